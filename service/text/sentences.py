"""Where sentences end: a cue a word, worked out once, and one table that combines them.

A word may end a sentence in some way, and may begin one in some way. Both are known from the chunk
of text that it stands in, so a cue is one byte that is kept with the chunk. Of a text, only the few
words are looked at that may end a sentence.
"""

import re
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from service.text.tokens import Offsets

# How a word may end a sentence.
_NOT, _STOP, _STRONG, _WEAK, _ABBREVIATION = range(1, 6)
# How a word may begin one. What hangs is never parted from the word before, such as a closer that
# touches it, as in `."`, an emoticon or the note number in `end. [7]`.
_OTHER, _STARTER, _NUMBER, _LOWER, _GOES_ON, _HANGS = range(6)
_BEGINNINGS = 6

_MAY_FOLLOW: dict[int, frozenset[int]] = {
    _NOT: frozenset(),
    _STOP: frozenset({_OTHER, _STARTER, _NUMBER, _LOWER}),
    _STRONG: frozenset({_OTHER, _STARTER, _NUMBER, _LOWER}),
    _WEAK: frozenset({_OTHER, _STARTER, _NUMBER}),
    _ABBREVIATION: frozenset({_STARTER}),
}

# A cue is ending * _BEGINNINGS + beginning, and the highest bit is set where a word is the first of
# its document, which follows no other. These tables take it apart again.
_FIRST = 128
_ENDING = [cue % _FIRST // _BEGINNINGS for cue in range(256)]
_BEGINNING = [cue % _BEGINNINGS if cue < _FIRST else _GOES_ON for cue in range(256)]

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
    """What the pieces of a chunk tell about sentences, one byte each and none zero."""
    cues = [_cue(_ending_of(piece), _beginning_of(piece)) for piece in pieces]
    # The point of " .net" ends nothing.
    if len(pieces) > 1 and _ENDING[cues[0]] != _STRONG:
        cues[0] = _cue(_NOT, _BEGINNING[cues[0]])
    for i, piece in enumerate(pieces[1:], 1):
        if piece in _CLOSERS:
            cues[i] = _HANGER
        elif piece == "]" and i > 1 and pieces[i - 1].isdigit() and pieces[i - 2] == "[":
            cues[i - 2 : i] = [_HANGER] * 2
    return bytes(cues)


def _cue(ending: int, beginning: int) -> int:
    return ending * _BEGINNINGS + beginning


_HANGER = _cue(_NOT, _HANGS)


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
    if first in _HANGING or _is_emoticon(piece):
        return _HANGS
    if piece.isdigit() and len(piece) <= 2:
        return _NUMBER
    return _GOES_ON if first in _CONTINUING and len(piece) == 1 else _OTHER


def _is_emoticon(piece: str) -> bool:
    return len(piece) > 1 and piece[0] in _EMOTICON_EYES and piece[0] != piece[1]


def _class_of(cues: Iterable[int]) -> bytes:
    """The inside of a class of a regular expression over cues."""
    return re.escape(bytes(cues))


# A word that may end a sentence, or hangs, with all that hangs on it, before one that may begin a
# sentence. What hangs on a word is looked at with that word alone, so that matching is linear.
_CUES = range(_NOT * _BEGINNINGS, (_ABBREVIATION + 1) * _BEGINNINGS)
_HANG = {cue for cue in _CUES if _BEGINNING[cue] == _HANGS}
_END = {cue for cue in _CUES if _ENDING[cue] != _NOT} | _HANG
_RUN = re.compile(
    b"[%(end)s](?<![%(end)s][%(hang)s])[%(hang)s]*+(?=[%(begin)s])"
    % {
        b"end": _class_of(_END | {cue | _FIRST for cue in _END}),
        b"hang": _class_of(_HANG),
        b"begin": _class_of(cue for cue in _CUES if _BEGINNING[cue] not in (_GOES_ON, _HANGS)),
    }
)


def sentence_offsets(
    cues: bytes, paragraphs: Collection[int], documents: Sequence[int] = (0,)
) -> Offsets:
    """Find the S sentences of M words.

    Parameters
    ----------
    cues : (M,) the `cues_of` all chunks.
    paragraphs : the words that a blank line stands before: each begins a sentence.
    documents : the first word of each document, or M; sentences don't reach across.

    Returns
    -------
    (S + 1,) int64; S is 0 where M is 0, and no sentence is empty.
    """
    breaks = _breaks(cues, documents)
    begins = {0, len(cues), *documents, *paragraphs, *breaks}
    # The number of a list, such as `1.` where a sentence begins, belongs to what follows, unless
    # a blank line follows.
    listed = [
        i
        for i in breaks
        if i - 2 in begins and _BEGINNING[cues[i - 2]] == _NUMBER and _ENDING[cues[i - 1]] == _STOP
    ]
    begins.difference_update(listed)
    begins.update(paragraphs)
    return np.array(sorted(begins), dtype=np.int64)


def _breaks(cues: bytes, documents: Sequence[int]) -> list[int]:
    """The words that begin a sentence by what stands before them in their document."""
    if len(documents) > 1:
        marked = np.frombuffer(cues, dtype=np.uint8).copy()
        firsts = np.array(documents)
        marked[firsts[firsts < len(cues)]] |= _FIRST
        cues = marked.tobytes()
    breaks = []
    for run in _RUN.finditer(cues):
        start, end = run.span()
        # What hangs ends a sentence as the word does that it hangs on; where that ends nothing,
        # it isn't in the run, and the last that hangs may end a sentence itself.
        hangs = _BEGINNING[cues[start]] == _HANGS and start > 0
        ending = _ENDING[cues[start]] if not hangs else _NOT
        if ending == _NOT:
            ending = _ENDING[cues[end - 1]]
        # '"Why?" he said' goes on.
        if ending == _STRONG and end - start > 1:
            ending = _WEAK
        if _BEGINNING[cues[end]] in _MAY_FOLLOW[ending]:
            breaks.append(end)
    return breaks
