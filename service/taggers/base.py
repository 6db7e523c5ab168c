"""What every tagger is: labels, and a score for every tag sequence of a sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from service.decoding import ChainScores
from service.taggers.word_rows import UnseenWords
from service.text.tokens import Offsets

_LARGEST_SCORE = 60_000.0  # far beyond any log-probability or weight; half precision has it
_LARGEST_INDEX = 2**62


class Tagger(Protocol):
    """A model that scores tag sequences. Immutable after load, safe to share by threads."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The K tags; a tag id is an index into it."""

    @property
    def probabilistic(self) -> bool:
        """Whether exp(score) is proportional to the probability of a sentence's tags.

        So it is of a CRF, whose probabilities are normalised scores, and of an HMM, whose scores
        are joint probabilities of tags and words. Of another model no probability is given.
        """

    def score(self, words: Sequence[str], sentence_offsets: Offsets) -> ChainScores:
        """Score the M words of a packed batch of S sentences.

        Parameters
        ----------
        words : M strings, none empty.
        sentence_offsets : (S + 1,) int64.

        Returns
        -------
        ChainScores over (M, K) emissions, constraints included.
        """


@runtime_checkable
class CachingTagger(Tagger, Protocol):
    """A tagger that keeps what it has computed of words outside its table."""

    @property
    def unseen_words(self) -> UnseenWords:
        """What the cache of these words has done."""


@dataclass(frozen=True, slots=True)
class FiredFeature:
    """A feature that a token has, and what it weighs.

    Attributes
    ----------
    name : ``<offset>:<what>``: what is seen of the word that stands so far from the token.
    weights : (K,) what it adds to the emission of each tag.
    """

    name: str
    weights: NDArray[np.floating[Any]]


@runtime_checkable
class FeatureTagger(Tagger, Protocol):
    """A tagger whose emissions are sums of weights of features, so that they can be explained."""

    def fired_features(
        self, words: Sequence[str], sentence_offsets: Offsets
    ) -> list[list[FiredFeature]]:
        """The features of each of M tokens that weigh anything; they add up to its emissions.

        Parameters
        ----------
        words, sentence_offsets : as of `score`.
        """


@dataclass(frozen=True, slots=True)
class Parameters:
    """What training estimates and a model directory holds; a tagger is made from it.

    Attributes
    ----------
    labels : the K tags.
    arrays : numeric arrays, by name.
    vocabularies : lists of strings, by name.
    """

    labels: tuple[str, ...]
    arrays: Mapping[str, NDArray[Any]]
    vocabularies: Mapping[str, list[str]]

    def array(self, name: str, shape: tuple[int | None, ...], kind: str = "f") -> NDArray[Any]:
        """The array of that name, checked.

        Parameters
        ----------
        name : key in `arrays`.
        shape : expected lengths; None takes any.
        kind : NumPy kinds that are right: "f" floating, "iu" integers, returned as int64.

        Raises
        ------
        ValueError
            Where it is missing, or has another type or shape, or a floating one holds NaN, plus
            infinity or a number of no score's size; minus infinity forbids.
        """
        if name not in self.arrays:
            raise ValueError(f"the array {name} is missing")
        array = self.arrays[name]
        fits = len(shape) == array.ndim and all(
            expected in (None, got) for expected, got in zip(shape, array.shape, strict=True)
        )
        if not fits or array.dtype.kind not in kind:
            expected = ", ".join("any" if length is None else str(length) for length in shape)
            raise ValueError(
                f"the array {name} is {array.dtype} of shape {array.shape}; "
                f"expected kind {kind} of shape ({expected})"
            )
        if array.dtype.kind == "f":
            if not ((np.abs(array) <= _LARGEST_SCORE) | (array == -np.inf)).all():
                raise ValueError(f"the array {name} holds NaN, plus infinity or too large a number")
            return array
        if array.size and not -_LARGEST_INDEX <= array.min() <= array.max() <= _LARGEST_INDEX:
            raise ValueError(f"the array {name} holds too large a number")
        return array.astype(np.int64)

    def vocabulary(self, name: str) -> list[str]:
        """The vocabulary of that name; it is checked as by `ids`."""
        return list(self.ids(name))

    def ids(self, name: str) -> dict[str, int]:
        """Where in the vocabulary of that name each entry is, in order.

        Raises
        ------
        ValueError
            Where it is missing or has an entry twice.
        """
        if name not in self.vocabularies:
            raise ValueError(f"the vocabulary {name} is missing")
        entries = self.vocabularies[name]
        ids = {entry: i for i, entry in enumerate(entries)}
        if len(ids) != len(entries):
            raise ValueError(f"the vocabulary {name} has an entry twice")
        return ids

    def part(self, prefix: str) -> "Parameters":
        """Those arrays and vocabularies whose names begin with `prefix`, without it."""
        start = len(prefix)
        return Parameters(
            self.labels,
            {name[start:]: a for name, a in self.arrays.items() if name.startswith(prefix)},
            {name[start:]: v for name, v in self.vocabularies.items() if name.startswith(prefix)},
        )

    def under(self, prefix: str) -> "Parameters":
        """The same with `prefix` before each name: what `part` takes back."""
        return Parameters(
            self.labels,
            {prefix + name: array for name, array in self.arrays.items()},
            {prefix + name: entries for name, entries in self.vocabularies.items()},
        )
