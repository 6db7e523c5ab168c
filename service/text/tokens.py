"""`Tokens`: the words of a document, packed flat, with the offsets of its sentences."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Offsets = NDArray[np.int64]


class Tokens(NamedTuple):
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
    starts: Offsets | None = None
    ends: Offsets | None = None

    @classmethod
    def from_sentences(cls, sentences: Sequence[Sequence[str]]) -> "Tokens":
        """Pack sentences of words that came without a text. An empty sentence is kept."""
        words = [word for sentence in sentences for word in sentence]
        return cls(words, offsets_of([len(sentence) for sentence in sentences]))

    def as_one_sentence(self) -> "Tokens":
        """The same words in one sentence; in none where there are none."""
        return self._replace(sentence_offsets=np.unique([0, len(self.words)]))


def offsets_of(lengths: Sequence[int] | Offsets) -> Offsets:
    """Turn S lengths into (S + 1,) offsets: ``[0, l0, l0 + l1, ...]``."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def by_step(offsets: Offsets) -> tuple[Offsets, Offsets, list[int]]:
    """Order the M tokens of a packed batch by time step, and within a step by rank.

    Sentences are ranked by falling length, so those that still have a token at step t are the
    first ``active[t]``.

    Parameters
    ----------
    offsets : (S + 1,) of the sentences, one of which has a token.

    Returns
    -------
    sentence_of : (M,) the sentence of each token; the first step has all that have tokens.
    step : (M,) where in its sentence it stands.
    active : T counts, how many sentences have a token at each step.
    """
    lengths = np.diff(offsets)
    ranked = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths)]
    lengths = lengths[ranked]
    active = np.searchsorted(-lengths, -np.arange(lengths[0]), side="left")  # (T,) lengths > t
    step = np.repeat(np.arange(len(active)), active)  # (M,)
    rank = np.arange(len(step)) - (np.cumsum(active) - active)[step]  # (M,)
    return ranked[rank], step, active.tolist()
