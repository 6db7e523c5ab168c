"""The linear-chain conditional random field (Lafferty, McCallum and Pereira 2001).

Its features are such that the emission of a token is a sum of rows (K,) that are looked up:

- five rows, one for each word at -2 to +2, that depend on the word alone (`word_rows`),
- a row for the pair with the word before and one for that with the word after (`word_pairs`),
- a row for each match of a gazetteer (`service.text.gazetteers`).

Rows of the training vocabulary are tables made at load; those of other words are made when they
first come. The features themselves are no longer looked at when a known word is scored.
"""

from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from service.decoding import ChainScores, Constraints
from service.taggers.base import Parameters
from service.taggers.feature_weights import FeatureWeights
from service.taggers.word_pairs import WordPairs
from service.taggers.word_rows import WordRows
from service.text.features import (
    BOUNDARY,
    NEXT,
    NO_CLUSTERS,
    OFFSETS,
    PREVIOUS,
    WordClusters,
    pair_features,
    word_features,
)
from service.text.gazetteers import Gazetteers
from service.text.tokens import Offsets

REACH = OFFSETS[-1]
"""How many words before and after it a token looks at."""

_ROWS_AT_ONCE = 2048


class CrfTagger:
    """A linear-chain CRF.

    Parameters
    ----------
    parameters : of K tags:

        - ``transitions`` (K, K) floating
        - the weights of the features: see `FeatureWeights`
        - ``words`` vocabulary: the words whose rows are made at load
        - what is known of words beforehand: see `lexicon_of`
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
        self.labels = parameters.labels
        self._transitions = parameters.array("transitions", (tags, tags)) + constraints.transitions
        self._start = constraints.start
        self._end = constraints.end
        self._weights = FeatureWeights(parameters)
        self._clusters, self._gazetteers = lexicon_of(parameters)
        words = [BOUNDARY, *parameters.vocabulary("words")]
        if BOUNDARY in words[1:]:
            raise ValueError("the vocabulary words has an empty entry")
        self._rows = WordRows(words, self._make_rows(words), self._make_rows, max_unseen_words)
        self._pairs = self._make_pairs(tags)
        self._match_rows = self._weights.sum([name] for name in self._gazetteers.names)  # (F, K)

    def score(self, words: list[str], sentence_offsets: Offsets) -> ChainScores:
        """Score a packed batch; see `service.taggers.base.Tagger.score`."""
        # Boundary words before, between and after the sentences, P words in all: then the rows of
        # all neighbours are one array, and a sum over offsets is a sum of shifted slices.
        gap = [BOUNDARY] * REACH
        padded = list(gap)
        for first, end in pairwise(sentence_offsets.tolist()):
            padded += words[first:end]
            padded += gap
        lowered = [word.lower() for word in padded]
        emissions = self._sum_over_offsets(self._rows.gather(padded))  # (P, K)
        self._pairs.add(emissions, lowered)
        tokens, features = self._gazetteers.match(padded, lowered)
        np.add.at(emissions, tokens, self._match_rows[features])

        sentence_of = np.repeat(np.arange(len(sentence_offsets) - 1), np.diff(sentence_offsets))
        places = np.arange(len(words)) + REACH * (sentence_of + 1)  # (M,)
        return ChainScores(
            emissions[places], self._transitions, self._start, self._end, sentence_offsets
        )

    def _sum_over_offsets(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """For each word the sum of its neighbours' rows at their offsets: (P, 5, K) to (P, K)."""
        sums = np.zeros((len(rows), rows.shape[2]), dtype=np.float32)
        inner = sums[REACH:-REACH]
        for i in range(len(OFFSETS)):
            inner += rows[i : i + len(inner), i]
        return sums

    def _make_rows(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Rows of N words, (N, 5, K): at each offset the sum of the weights of its features."""
        rows = []
        for i in range(0, len(words), _ROWS_AT_ONCE):
            part = words[i : i + _ROWS_AT_ONCE]
            groups = chain.from_iterable(word_features(word, self._clusters) for word in part)
            rows.append(self._weights.sum(groups).reshape(len(part), len(OFFSETS), -1))
        return np.concatenate(rows)

    def _make_pairs(self, tags: int) -> WordPairs:
        """The rows of all pairs of words that have a weight."""
        names = [name for name in self._weights.names if name.startswith((PREVIOUS, NEXT))]
        pairs = list(dict.fromkeys(map(_pair_of, names)))
        groups = [[name] for before, after in pairs for name in pair_features(before, after)]
        rows = self._weights.sum(groups).reshape(len(pairs), 2, tags)
        return WordPairs(dict(zip(pairs, rows, strict=True)), tags)


def _pair_of(name: str) -> tuple[str, str]:
    """The words that a feature of a pair is named after."""
    before, _, after = name.partition("=")[2].partition(" ")
    return before, after


def lexicon_of(parameters: Parameters) -> tuple[WordClusters, Gazetteers]:
    """The clusters and gazetteers of a CRF; empty ones where it has none.

    Parameters
    ----------
    parameters : with the vocabulary ``cluster_words`` (V) and the array ``clusters`` (V, G), see
        `WordClusters`; the vocabularies ``gazetteer_classes`` (C) and ``gazetteer_phrases`` (N)
        and the array ``gazetteer_members`` (N,), see `Gazetteers`; or without either.

    Raises
    ------
    ValueError
        Where they do not fit each other.
    """
    clusters, gazetteers = NO_CLUSTERS, Gazetteers([], [], np.zeros(0, dtype=np.int64))
    if "cluster_words" in parameters.vocabularies:
        words = parameters.vocabulary("cluster_words")
        clusters = WordClusters(words, parameters.array("clusters", (len(words), None), "iu"))
    if "gazetteer_phrases" in parameters.vocabularies:
        classes = parameters.vocabulary("gazetteer_classes")
        phrases = parameters.vocabulary("gazetteer_phrases")
        members = parameters.array("gazetteer_members", (len(phrases),), "iu")
        if len(members) and not 0 <= members.min() <= members.max() < 1 << len(classes):
            raise ValueError("the array gazetteer_members names a class that is not there")
        gazetteers = Gazetteers(classes, phrases, members)
    return clusters, gazetteers
