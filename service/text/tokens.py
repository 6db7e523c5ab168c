"""`Tokens`: the words of a document, packed flat, with the offsets of its sentences."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Offsets = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The M words of a document in S sentences.

    Attributes
    ----------
    words : M strings, in text order.
    sentence_offsets : (S + 1,) int64; sentence s is ``words[offsets[s]:offsets[s + 1]]``.
    starts, ends : (M,) int64 half-open code-point ranges, ``text[start:end] == word``;
        None where the words came without a text.
    """

    words: list[str]
    sentence_offsets: Offsets
    starts: Offsets | None = field(default=None)
    ends: Offsets | None = field(default=None)

    @classmethod
    def from_sentences(cls, sentences: Sequence[Sequence[str]]) -> "Tokens":
        """Pack sentences of words that came without a text. An empty sentence is kept."""
        words = [word for sentence in sentences for word in sentence]
        return cls(words, offsets_of([len(sentence) for sentence in sentences]))


def offsets_of(lengths: Sequence[int] | Offsets) -> Offsets:
    """Turn S lengths into (S + 1,) offsets: ``[0, l0, l0 + l1, ...]``."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
