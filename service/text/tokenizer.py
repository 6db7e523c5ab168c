"""Text to `Documents`: chunks at white space, the pieces of each, and where they all stand.

How a chunk splits into pieces is kept (`service.text.chunks`), and a line break or a run of blanks
can never change its neighbours. All else is a few passes over the whole text: the pieces cover all
that is not white space, in order, so the k-th character of the words is the k-th visible character
of the text.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np

from service.text.chunks import Chunks
from service.text.sentences import sentence_offsets
from service.text.tokens import Documents, Offsets, Tokens
from service.text.words import Words

VERSION = "1"
"""Stands in every model's manifest: a model sees other words when this changes."""

_CHARS_A_CHUNK = 16
"""Chunks that are kept have as many characters on average, at most: their number alone would not
bound the memory."""

_CHARS_AT_ONCE = 100_000
"""Bounds the memory that many texts take together while their words are being placed."""

# The last entry stands for all code points beyond it: none is white space, a test looks at each.
_VISIBLE = np.array([not chr(code).isspace() for code in range(0x3002)])


class Tokenizer:
    """Splits texts into words and sentences. All threads may share one.

    Parameters
    ----------
    max_chunks : how many chunks are kept with their pieces after a call, at most; 0 keeps none.
        Answers never depend on it.
    """

    def __init__(self, max_chunks: int = 50_000) -> None:
        self._max_chunks = max_chunks
        self._chunks = Chunks()

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
        return self._pack([text])[0]

    def tokenize_all(self, texts: Sequence[str]) -> Documents:
        """Split many texts, as `tokenize` splits each; quicker where they are short."""
        return Documents.joined([self._pack(texts[first:end]) for first, end in _groups(texts)])

    def _pack(self, texts: Sequence[str]) -> Documents:
        """Split texts as if they were one, but for sentences, which end with a text."""
        kept = self._chunks
        text = " ".join(texts)
        chunks = text.split()
        where = np.fromiter(map(kept.__getitem__, chunks), np.int64, count=len(chunks))
        words, lengths, cues = kept.pieces(where).T  # (M,) each
        if len(kept) > self._max_chunks or kept.characters > self._max_chunks * _CHARS_A_CHUNK:
            self._chunks = Chunks()
        visible = _visible(text)
        starts = visible.take(lengths.cumsum() - lengths)
        ends = starts + lengths
        begins = list(accumulate((len(each) + 1 for each in texts), initial=0))
        alone = len(texts) == 1
        firsts = [0] if alone else starts.searchsorted(begins[:-1]).tolist()
        # With as few blanks, one is all that stands between two chunks, as in most short texts.
        single = len(text) - len(visible) == len(chunks) - 1
        paragraphs = [] if single else _after_blank_lines(text, starts, ends)
        offsets = sentence_offsets(cues.astype(np.uint8).tobytes(), paragraphs, firsts)
        token_firsts = [*firsts, len(words)]
        if not alone:
            before = np.repeat(begins[:-1], np.diff(token_firsts))  # (M,) what stands before a text
            starts -= before
            ends -= before
        return Documents(
            Words(words, kept.vocabulary),
            offsets,
            token_firsts,
            [0, len(offsets) - 1] if alone else offsets.searchsorted(token_firsts).tolist(),
            starts,
            ends,
            [True] * len(texts),
        )


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


def _visible(text: str) -> Offsets:
    """Where the characters of a text stand that are not white space."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")  # (chars,)
    return _VISIBLE.take(codes, mode="clip").nonzero()[0]


def _after_blank_lines(text: str, starts: Offsets, ends: Offsets) -> list[int]:
    """The words, but for the first, that two or more line breaks stand before."""
    words = (starts[1:] - ends[:-1] > 1).nonzero()[0] + 1
    gaps = zip(words.tolist(), ends[words - 1].tolist(), (starts[words] + 1).tolist(), strict=True)
    return [word for word, start, end in gaps if len(text[start:end].splitlines()) > 2]
