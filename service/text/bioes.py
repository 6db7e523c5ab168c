"""BIOES tags: what a network may work in, so that it learns where spans end. Outside there is BIO.

``S-X`` is a span of one token, and ``E-X`` the last token of a longer one.
"""

from collections.abc import Sequence
from itertools import pairwise

_BIO = {"B": "B", "S": "B", "I": "I", "E": "I"}
_LAST = {"B": "S", "I": "E"}


def bioes_of(tags: Sequence[str]) -> tuple[str, ...]:
    """The BIOES tags of a sentence, of its strict IOB2 tags."""
    return tuple(
        _LAST[tag[0]] + tag[1:] if tag != "O" and following[0] != "I" else tag
        for tag, following in pairwise([*tags, "O"])
    )


def bio_of(tag: str) -> str:
    """The BIO tag of a BIOES tag: B of B and S, I of I and E.

    Raises
    ------
    ValueError
        Where it is no BIOES tag.
    """
    if tag == "O":
        return tag
    if tag[0:1] not in _BIO or tag[1:2] != "-" or len(tag) < 3:
        raise ValueError(f"{tag!r} is no BIOES tag: expected O, or B-, I-, E- or S-<label>")
    return _BIO[tag[0]] + tag[1:]
