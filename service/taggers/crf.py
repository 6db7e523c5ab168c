"""The linear-chain conditional random field (Lafferty, McCallum and Pereira 2001).

Every feature reads one word at one offset (`service.text.features`), so the emission of a token
is a sum of five rows, one for each word at -2 to +2, and a row depends on its word alone:

    emissions[m] = sum over offsets o of rows[word at m + o][o]          (K,)

Rows of the training vocabulary are a table made at load; those of other words are made when they
first come. The features themselves are no longer looked at when a known word is scored.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.decoding import ChainScores, Constraints
from service.taggers.base import Parameters
from service.taggers.word_rows import WordRows
from service.text.features import BOUNDARY, OFFSETS, word_features
from service.text.tokens import Offsets

_REACH = OFFSETS[-1]  # words before and after that a token looks at
_ROWS_AT_ONCE = 2048


class CrfTagger:
    """A linear-chain CRF over features of single words.

    Parameters
    ----------
    parameters : of K tags, A attributes and N weights:

        - ``transitions`` (K, K) floating
        - ``attributes`` vocabulary: A feature names, each with the weights
          ``attribute_offsets[a]`` to ``attribute_offsets[a + 1]`` (A + 1,) of
          ``weights`` (N,) for the tags ``weight_tags`` (N,)
        - ``words`` vocabulary: the words whose rows are made at load
    constraints : added to the scores.
    max_unseen_words : how many rows of other words are kept.

    Raises
    ------
    ValueError
        Where an array or a vocabulary is missing or does not fit.
    """

    def __init__(
        self, parameters: Parameters, constraints: Constraints, max_unseen_words: int
    ) -> None:
        tags = len(parameters.labels)
        attributes = parameters.vocabulary("attributes")
        self.labels = parameters.labels
        self._attributes = {name: i for i, name in enumerate(attributes)}
        self._bounds = parameters.array("attribute_offsets", (len(attributes) + 1,), "iu")
        self._weights = parameters.array("weights", (None,))
        self._weight_tags = parameters.array("weight_tags", (len(self._weights),), "iu")
        self._check_weights()
        self._transitions = parameters.array("transitions", (tags, tags)) + constraints.transitions
        self._start = constraints.start
        self._end = constraints.end
        words = [BOUNDARY, *parameters.vocabulary("words")]
        if BOUNDARY in words[1:]:
            raise ValueError("the vocabulary words has an empty entry")
        self._rows = WordRows(words, self._make_rows(words), self._make_rows, max_unseen_words)

    def score(self, words: list[str], sentence_offsets: Offsets) -> ChainScores:
        """Score a packed batch; see `service.taggers.base.Tagger.score`."""
        # Two boundary words before, between and after the sentences: then every offset of every
        # token is a row of one array, and a sum over offsets is a sum of shifted slices.
        gap = [BOUNDARY] * _REACH
        padded = list(gap)
        bounds = sentence_offsets.tolist()
        for first, end in pairwise(bounds):
            padded += words[first:end]
            padded += gap
        rows = self._rows.gather(padded)  # (P, 5, K), P = M + 2 (S + 1)
        inner = len(padded) - 2 * _REACH
        summed = rows[:inner, 0]
        for i in range(1, len(OFFSETS)):
            summed = summed + rows[i : i + inner, i]  # (P - 4, K)
        sentence_of = np.repeat(np.arange(len(bounds) - 1), np.diff(sentence_offsets))  # (M,)
        emissions = summed[np.arange(len(words)) + _REACH * sentence_of]  # (M, K)
        return ChainScores(emissions, self._transitions, self._start, self._end, sentence_offsets)

    def _check_weights(self) -> None:
        bounds = self._bounds
        if bounds[0] != 0 or bounds[-1] != len(self._weights) or (bounds[1:] < bounds[:-1]).any():
            raise ValueError("the array attribute_offsets does not rise from 0 to the weights")
        tags = self._weight_tags
        if len(tags) and not 0 <= tags.min() <= tags.max() < len(self.labels):
            raise ValueError("the array weight_tags names a tag that is not there")

    def _make_rows(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Rows of N words, (N, 5, K): at each offset the sum of the weights of its features."""
        parts = range(0, len(words), _ROWS_AT_ONCE)
        return np.concatenate([self._sum_weights(words[i : i + _ROWS_AT_ONCE]) for i in parts])

    def _sum_weights(self, words: Sequence[str]) -> NDArray[np.float32]:
        found: list[int] = []  # attribute ids, F in all
        counts: list[int] = []  # of each word at each offset
        for word in words:
            for offset in OFFSETS:
                ids = [
                    self._attributes[name]
                    for name in word_features(word, offset)
                    if name in self._attributes
                ]
                found += ids
                counts.append(len(ids))
        row_of = np.repeat(np.arange(len(counts)), counts)  # (F,)
        attributes = np.array(found, dtype=np.int64)  # (F,)
        # Every attribute stands for its slice of the weights: n of them in all.
        firsts = self._bounds[attributes].astype(np.int64)
        lengths = self._bounds[attributes + 1] - firsts
        weight = np.arange(lengths.sum()) + np.repeat(
            firsts - (lengths.cumsum() - lengths), lengths
        )
        tags = len(self.labels)
        cell = np.repeat(row_of, lengths) * tags + self._weight_tags[weight]  # (n,)
        sums: NDArray[Any] = np.bincount(
            cell, weights=self._weights[weight], minlength=len(counts) * tags
        )
        return sums.astype(np.float32).reshape(len(words), len(OFFSETS), tags)
