"""Where sentences end: a cue a word, worked out once, and one table that combines them.

A word may end a sentence in some way, and may begin one in some way. Both are known from the word
alone (or from the chunk of text that it stands in), so a cue is one byte that is kept with the
word, and the rules are a look-up in `_BREAKS`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from service.text.tokens import Offsets

# How a word may end a sentence.
_NOT, _STOP, _STRONG, _WEAK, _ABBREVIATION = range(5)
# How a word may begin one. A closer hangs on the word that it touches, as in `."`; what hangs is
# never parted from the word before, such as an emoticon or the note number in `end. [7]`.
_OTHER, _STARTER, _NUMBER, _LOWER, _GOES_ON, _CLOSER, _HANGS = range(7)
_BEGINNINGS = 7

_BREAKS = np.zeros((5, _BEGINNINGS), dtype=bool)
_BREAKS[_STOP, [_OTHER, _STARTER, _NUMBER, _LOWER, _CLOSER]] = True
_BREAKS[_STRONG, [_OTHER, _STARTER, _NUMBER, _LOWER, _CLOSER]] = True
_BREAKS[_WEAK, [_OTHER, _STARTER, _NUMBER, _CLOSER]] = True
_BREAKS[_ABBREVIATION, _STARTER] = True

_STOPS = frozenset(".。｡।॥۔։።")
_STRONGS = frozenset("!?！？؟‼⁇⁈⁉")
_CLOSERS = frozenset(("'", '"', "''", "’", "”", "»"))
_HANGING = frozenset(")]}›」』）】》〉")
_CONTINUING = frozenset(",;:%/.…!?,、，；：؛،–")
_OFTEN_LAST = frozenset({"etc.", "inc.", "corp.", "co.", "ltd.", "jr.", "sr.", "a.m.", "p.m."})
_OFTEN_FIRST = (
    "I The A An He She It We You They This That These Those In On At For But And If When There"
    " What My His Her Our Their"
)
_STARTERS = frozenset(_OFTEN_FIRST.split())
_EMOTICON_EYES = frozenset(":;=")


def cues_of(pieces: Sequence[str]) -> bytes:
    """What the pieces of a chunk tell about sentences, one byte each."""
    cues = [_ending_of(piece) * _BEGINNINGS + _beginning_of(piece) for piece in pieces]
    for i, piece in enumerate(pieces[1:-1], 1):
        if piece.isdigit() and pieces[i - 1] == "[" and pieces[i + 1] == "]":
            cues[i - 1 : i + 2] = [_HANGS] * 3
    return bytes(cues)


def _ending_of(piece: str) -> int:
    """How a piece may end a sentence."""
    last = piece[-1]
    if last in _STOPS:
        if len(piece) == 1:
            return _STOP
        if piece.lower() in _OFTEN_LAST or (piece.isupper() and len(piece) > 3):
            return _ABBREVIATION
        return _NOT if piece[0].isalpha() else _WEAK
    if last in _STRONGS:
        return _STRONG
    return _WEAK if last == "…" or _is_emoticon(piece) else _NOT


def _beginning_of(piece: str) -> int:
    """How a piece may begin a sentence."""
    first = piece[0]
    if first.islower():
        return _LOWER
    if piece in _STARTERS:
        return _STARTER
    if piece in _CLOSERS:
        return _CLOSER
    if first in _HANGING or _is_emoticon(piece):
        return _HANGS
    if piece.isdigit() and len(piece) <= 2:
        return _NUMBER
    return _GOES_ON if first in _CONTINUING and len(piece) == 1 else _OTHER


def _is_emoticon(piece: str) -> bool:
    return len(piece) > 1 and piece[0] in _EMOTICON_EYES and piece[0] != piece[1]


def sentence_offsets(
    cues: NDArray[np.uint8], starts: Offsets, ends: Offsets, line_breaks: Offsets
) -> Offsets:
    """Find the S sentences of M words.

    Parameters
    ----------
    cues : (M,) uint8, the `cues_of` all chunks.
    starts, ends : (M,) int64, the words' places in the text.
    line_breaks : int64, the places of line breaks in the text, ascending; CR LF is one.

    Returns
    -------
    (S + 1,) int64; S is 0 where M is 0, and no sentence is empty. A blank line always parts
    sentences; a single line break is a blank like others.
    """
    if not len(cues):
        return np.zeros(1, dtype=np.int64)
    endings, beginnings = np.divmod(cues, _BEGINNINGS)
    touches = np.concatenate(([False], starts[1:] == ends[:-1], [False]))
    # The point of " .net" ends nothing.
    endings[~touches[:-1] & touches[1:] & (endings != _STRONG)] = _NOT

    # What hangs on a word ends a sentence as that word does: look from there.
    hangs = (beginnings == _HANGS) | ((beginnings == _CLOSER) & touches[:-1])
    index = np.arange(len(cues))
    base = np.maximum.accumulate(np.where(hangs, 0, index))
    seen = np.where(endings[base] == _NOT, endings, endings[base])
    # '"Why?" he said' goes on.
    seen[(seen == _STRONG) & (base != index)] = _WEAK

    begins = np.ones(len(cues), dtype=bool)
    begins[1:] = _BREAKS[seen[:-1], beginnings[1:]] & ~hangs[1:]
    paragraphs = _after_blank_lines(starts, line_breaks)
    begins[paragraphs] = True
    # The number of a list, such as `1.` where a sentence begins, belongs to what follows, unless
    # a blank line follows.
    begins[2:] &= ~(begins[:-2] & (beginnings[:-2] == _NUMBER) & (endings[1:-1] == _STOP))
    begins[paragraphs] = True
    offsets: Offsets = np.flatnonzero(np.append(begins, True))
    return offsets


def _after_blank_lines(starts: Offsets, line_breaks: Offsets) -> Offsets:
    """The words that two or more line breaks stand before, with white space only between."""
    words = np.searchsorted(starts, line_breaks)
    words = words[words < len(starts)]
    again: Offsets = words[1:][words[1:] == words[:-1]]
    return again
