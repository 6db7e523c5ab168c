"""Text to `Tokens`: chunks at white space, the pieces of each, and where they all stand.

How a chunk splits into pieces depends on that chunk alone, so it is worked out once and kept, and
a line break or a run of blanks can never change its neighbours. All else is a few passes over the
whole text: the pieces cover all that is not white space, in order, so the k-th character of the
words is the k-th visible character of the text.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from service.text.pieces import pieces_of
from service.text.sentences import cues_of, sentence_offsets
from service.text.tokens import Offsets, Tokens

VERSION = "1"
"""Stands in every model's manifest: a model sees other words when this changes."""

LONGEST_KEPT = 64
MOST_PIECES_KEPT = 8
"""Chunks of more characters or pieces are never kept: they hardly recur, and their number alone
would not bound the memory."""

_CHARS_AT_ONCE = 100_000
"""Bounds the memory that many texts take together while their words are being placed."""

# The last entry stands for all code points beyond it: none is white space, a test looks at each.
_VISIBLE = np.array([not chr(code).isspace() for code in range(0x3002)])

Entry = tuple[tuple[str, ...], bytes]
"""The pieces of a chunk; and a byte a character: the cue of each piece, then zeros to its end."""


class Tokenizer:
    """Splits texts into words and sentences. All threads may share one.

    Parameters
    ----------
    max_chunks : how many chunks are kept with their pieces, at most (threads that run at once may
        each add one more); 0 keeps none. Answers never depend on it.
    """

    def __init__(self, max_chunks: int = 50_000) -> None:
        self._entries = _Entries(max_chunks)

    def tokenize(self, text: str) -> Tokens:
        """Split a text into its M words and S sentences.

        Parameters
        ----------
        text : any string; lone surrogates and control characters are characters like others.

        Returns
        -------
        Tokens with ``starts`` and ``ends`` in code points. No word is empty or holds white space,
        the words cover all that is not white space, and no sentence is empty: S is 0 where the
        text is blank.
        """
        [tokens] = self._pack([text]).documents()
        return tokens

    def tokenize_all(self, texts: Sequence[str]) -> list[Tokens]:
        """Split many texts, as `tokenize` splits each; quicker where they are short."""
        groups = (texts[first:end] for first, end in _groups(texts))
        return list(chain.from_iterable(self._pack(group).documents() for group in groups))

    def _pack(self, texts: Sequence[str]) -> "_Packed":
        """Split texts as if they were one, but for sentences, which end with a text."""
        chunks = list(chain.from_iterable(map(str.split, texts)))
        entries = list(map(self._entries.__getitem__, chunks))
        words = list(chain.from_iterable(map(itemgetter(0), entries)))
        marks = b"".join(map(itemgetter(1), entries))
        text = "".join(texts)
        starts, ends = _ranges(text, marks)
        begins = list(accumulate(map(len, texts), initial=0))
        firsts = [0] if len(texts) == 1 else starts.searchsorted(begins[:-1]).tolist()
        # With as few blanks, one is all that stands between two chunks: most short texts.
        single = len(text) - len(marks) == len(chunks) - len(texts)
        paragraphs = [] if single else _after_blank_lines(text, starts, ends)
        offsets = sentence_offsets(marks.translate(None, b"\0"), paragraphs, firsts)
        return _Packed(words, offsets, starts, ends, firsts, begins)


class _Packed(NamedTuple):
    """The tokens of D texts that were split as if they were one, one right after another.

    Attributes
    ----------
    words, sentence_offsets, starts, ends : see `Tokens`.
    firsts : the first word of each text.
    begins : D + 1, the first character of each text.
    """

    words: list[str]
    sentence_offsets: Offsets
    starts: Offsets
    ends: Offsets
    firsts: list[int]
    begins: list[int]

    def documents(self) -> Iterator[Tokens]:
        """The tokens of each text."""
        if len(self.firsts) == 1:
            yield Tokens(self.words, self.sentence_offsets, self.starts, self.ends)
            return
        words = self.words
        bounds = [*self.firsts, len(words)]
        lengths = np.diff(bounds)  # (D,)
        before = np.repeat(self.begins[:-1], lengths)  # (M,) characters of other texts
        starts, ends = self.starts - before, self.ends - before
        # Where a text ends and the next begins is one offset, and becomes two: M_d, and 0.
        cuts = self.sentence_offsets.searchsorted(bounds)
        twice = np.insert(self.sentence_offsets, cuts[1:-1], bounds[1:-1])
        sentences = np.diff(cuts) + 1  # (D,) offsets of each
        offsets = twice - np.repeat(self.firsts, sentences)
        first = 0
        for (i, j), count in zip(pairwise(bounds), sentences.tolist(), strict=True):
            end = first + count
            yield Tokens(words[i:j], offsets[first:end], starts[i:j], ends[i:j])
            first = end


def _groups(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Ranges of texts that have few characters together, or are one that has many."""
    first, chars = 0, 0
    for end, text in enumerate(texts):
        if end > first and chars + len(text) > _CHARS_AT_ONCE:
            yield first, end
            first, chars = end, 0
        chars += len(text)
    if texts:
        yield first, len(texts)


def _ranges(text: str, marks: bytes) -> tuple[Offsets, Offsets]:
    """Where the words of a text start and end, (M,) each, by their marks."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")  # (chars,)
    places = _VISIBLE.take(codes, mode="clip").nonzero()[0]  # (visible chars,)
    firsts = (np.frombuffer(marks + b"\1", dtype=np.uint8) != 0).nonzero()[0]  # (M + 1,)
    starts = places[firsts[:-1]]
    return starts, starts + (firsts[1:] - firsts[:-1])


class _Entries(dict[str, Entry]):
    """What is known of each chunk: `entries[chunk]` is worked out where it isn't kept."""

    def __init__(self, max_chunks: int) -> None:
        super().__init__()
        self._max_chunks = max_chunks

    def __missing__(self, chunk: str) -> Entry:
        """Split a chunk, and keep the answer if it may recur."""
        pieces = pieces_of(chunk)
        entry = pieces, _marks_of(pieces)
        recurs = len(chunk) <= LONGEST_KEPT and len(pieces) <= MOST_PIECES_KEPT
        if recurs and self._max_chunks:
            # All go at once. Other threads miss them, and keep what they were given.
            if len(self) >= self._max_chunks:
                self.clear()
            self[chunk] = entry
        return entry


def _marks_of(pieces: Sequence[str]) -> bytes:
    """The cue of each piece, and zeros to its end: a byte a character."""
    cues = zip(cues_of(pieces), pieces, strict=True)
    return b"".join([cue.to_bytes().ljust(len(piece), b"\0") for cue, piece in cues])


def _after_blank_lines(text: str, starts: Offsets, ends: Offsets) -> list[int]:
    """The words, but for the first, that two or more line breaks stand before."""
    words = (starts[1:] - ends[:-1] > 1).nonzero()[0] + 1
    gaps = zip(words.tolist(), ends[words - 1].tolist(), (starts[words] + 1).tolist(), strict=True)
    return [word for word, start, end in gaps if len(text[start:end].splitlines()) > 2]
