"""Text to `Tokens`: chunks at white space, the pieces of each, and where they all stand.

How a chunk splits into pieces depends on that chunk alone, so it is worked out once and kept, and
a line break or a run of blanks can never change its neighbours. All else is NumPy arithmetic over
the whole text: the pieces cover all that is not white space, in order, so the k-th character of
the words is the k-th visible character of the text.
"""

from itertools import chain
from operator import itemgetter

import numpy as np

from service.text.pieces import pieces_of
from service.text.sentences import cues_of, sentence_offsets
from service.text.tokens import Tokens

VERSION = "1"
"""Stands in every model's manifest: a model sees other words when this changes."""

LONGEST_KEPT = 64
MOST_PIECES_KEPT = 8
"""Chunks of more characters or pieces are never kept: they hardly recur, and their number alone
would not bound the memory."""

_VISIBLE, _BLANK, _LINE_BREAK = range(3)


def _kind_of(char: str) -> int:
    """Whether a character is visible, blank, or what `str.splitlines` takes for a line break."""
    if not char.isspace():
        return _VISIBLE
    return _LINE_BREAK if len(f"{char}.".splitlines()) == 2 else _BLANK


# The last entry stands for all code points beyond it: none is white space, a test looks at each.
_KINDS = np.array([_kind_of(chr(code)) for code in range(0x3002)], dtype=np.uint8)

Entry = tuple[tuple[str, ...], bytes]
"""The pieces of a chunk and their sentence cues, one byte each."""


class Tokenizer:
    """Splits texts into words and sentences. All threads may share one.

    Parameters
    ----------
    max_chunks : how many chunks are kept with their pieces, at most (threads that run at once may
        each add one more); 0 keeps none. Answers never depend on it.
    """

    def __init__(self, max_chunks: int = 50_000) -> None:
        self._max_chunks = max_chunks
        self._entries: dict[str, Entry] = {}

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
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")  # (chars,)
        kinds = _KINDS.take(codes, mode="clip")  # (chars,)
        entries = self._entries_of(text.split())
        words = list(chain.from_iterable(map(itemgetter(0), entries)))
        cues = np.frombuffer(b"".join(map(itemgetter(1), entries)), dtype=np.uint8)  # (M,)
        lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        starts = np.flatnonzero(kinds == _VISIBLE)[np.cumsum(lengths) - lengths]
        ends = starts + lengths
        line_breaks = np.flatnonzero(kinds == _LINE_BREAK)  # less the LF of each CR LF
        previous = codes[line_breaks - (line_breaks > 0)]
        line_breaks = line_breaks[(codes[line_breaks] != ord("\n")) | (previous != ord("\r"))]
        return Tokens(words, sentence_offsets(cues, starts, ends, line_breaks), starts, ends)

    def _entries_of(self, chunks: list[str]) -> list[Entry]:
        """What is known of each chunk, worked out where it isn't kept."""
        kept = self._entries
        found = map(kept.get, chunks)
        return [entry or self._enter(chunk) for chunk, entry in zip(chunks, found, strict=True)]

    def _enter(self, chunk: str) -> Entry:
        """Split a chunk, and keep the answer if it may recur."""
        pieces = pieces_of(chunk)
        entry = pieces, cues_of(pieces)
        recurs = len(chunk) <= LONGEST_KEPT and len(pieces) <= MOST_PIECES_KEPT
        if recurs and self._max_chunks:
            # A full generation is replaced, never emptied: other threads may be reading it.
            if len(self._entries) >= self._max_chunks:
                self._entries = {}
            self._entries[chunk] = entry
        return entry
