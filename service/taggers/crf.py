"""The linear-chain conditional random field (Lafferty, McCallum and Pereira 2001).

Its features are such that the emission of a token is a sum of rows (K,) that are looked up:

- five rows, one for each word at -2 to +2, that depend on the word alone (`word_rows`),
- a row for the pair with the word before and one for that with the word after (`word_pairs`),
- a row for each match of a gazetteer (`service.text.gazetteers`); those of a match of one word are
  in the word's own rows, and are taken away where it is part of a longer one.

What depends on a word alone, its rows and how pairs and gazetteers call it, is an entry that one
look-up finds. Entries of frequent words are a table made at load; those of other words are made
when they first come, and kept. The features themselves are not looked at when such a word is
scored, and no string is made.
"""

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.decoding import ChainScores, Constraints, Transitions
from service.taggers.base import FiredFeature, Parameters
from service.taggers.crf_features import FeatureReader
from service.taggers.crf_lexicon import lexicon_of
from service.taggers.feature_weights import FeatureWeights
from service.taggers.word_pairs import WordPairs
from service.taggers.word_rows import UnseenWords, WordRows
from service.text.features import (
    BOUNDARY,
    OFFSETS,
    PAIR,
    PAIR_OFFSETS,
    REACH,
    word_features,
)
from service.text.gazetteers import (
    POSITIONS,
    SINGLE_SEEN_AT,
    Match,
    marks_of,
)
from service.text.packing import parts_of
from service.text.tokens import Offsets
from service.text.words import spread

# So that what is added up stays in the processor's cache.
_ENTRIES_AT_ONCE = 256
_BYTES_AT_ONCE = 2**21


class CrfTagger:
    """A linear-chain CRF.

    Parameters
    ----------
    parameters : of K tags:

        - ``transitions`` (K, K) floating
        - the weights of the features: see `FeatureWeights`
        - ``words`` vocabulary: the words whose entries are made at load
        - what is known of words beforehand: see `lexicon_of`
    constraints : added to the scores.
    max_unseen_words : how many entries of other words are kept.

    Raises
    ------
    ValueError
        Where an array or a vocabulary is missing or does not fit.
    """

    probabilistic = True

    def __init__(
        self, parameters: Parameters, constraints: Constraints, max_unseen_words: int
    ) -> None:
        tags = len(parameters.labels)
        self.labels = parameters.labels
        self._transitions = Transitions(
            parameters.array("transitions", (tags, tags)) + constraints.transitions,
            constraints.start,
            constraints.end,
        )
        self._weights = FeatureWeights(parameters)
        self._clusters, self._classes, self._gazetteers = lexicon_of(parameters)
        self._match_rows = self._make_match_rows(tags)
        self._pairs = self._make_pairs()
        self._entry = np.dtype(
            [
                ("rows", np.float32, (len(OFFSETS), tags)),
                ("pair_id", np.int64),
                ("single", np.int32),
                ("first", np.int32),
                ("second", np.int32),
            ]
        )
        words = [BOUNDARY, *parameters.vocabulary("words")]
        if BOUNDARY in words[1:]:
            raise ValueError("the vocabulary words has an empty entry")
        table = self._make_entries(words)
        self._entries = WordRows(words, table, self._make_entries, max_unseen_words)

    @property
    def unseen_words(self) -> UnseenWords:
        """See `service.taggers.base.CachingTagger.unseen_words`."""
        return self._entries.unseen_words

    def score(self, words: Sequence[str], sentence_offsets: Offsets) -> ChainScores:
        """Score a packed batch; see `service.taggers.base.Tagger.score`."""
        limit = _BYTES_AT_ONCE // self._entry.itemsize
        parts = [
            self._emissions(part, offsets[1:] - offsets[:-1])
            for _, part, offsets in parts_of(words, sentence_offsets, limit)
        ]
        emissions = np.concatenate(parts) if len(parts) > 1 else parts[0]
        return ChainScores(emissions, self._transitions, sentence_offsets)

    def _emissions(self, words: Sequence[str], lengths: Offsets) -> NDArray[np.float32]:
        """The emissions of the M words of sentences of these lengths."""
        # Boundary words before, between and after the sentences, P words in all: then the rows of
        # all neighbours are one array, and a sum over offsets is a sum of shifted slices.
        gaps = np.arange(1, len(lengths) + 1) * REACH  # boundary words up to each sentence
        places = np.arange(len(words)) + np.repeat(gaps, lengths)  # (M,)
        padded = spread(words, places, len(words) + (len(lengths) + 1) * REACH)
        entries = self._entries.gather(padded)  # (P,)
        emissions = _sum_over_offsets(entries)  # (P, K)
        self._pairs.add(emissions, entries["pair_id"])
        longer = self._gazetteers.longer(padded, entries["first"], entries["second"])
        if longer:
            self._add_longer(emissions, longer, entries["single"])
        return emissions.take(places, axis=0)

    def _add_longer(
        self, emissions: NDArray[np.float32], matches: Sequence[Match], singles: NDArray[Any]
    ) -> None:
        """Add the rows of matches of several words; those of their words alone are no matches."""
        covered = (place for match in matches for place in range(match.start, match.end))
        alone = ((place, int(singles[place])) for place in covered)
        no_matches = [Match(place, place + 1, which) for place, which in alone if which >= 0]
        for change, of in ((np.add, matches), (np.subtract, no_matches)):
            if of:
                places, sets, positions = np.array(list(chain.from_iterable(map(marks_of, of)))).T
                change.at(emissions, places, self._match_rows[sets, positions])

    def fired_features(
        self, words: Sequence[str], sentence_offsets: Offsets
    ) -> list[list[FiredFeature]]:
        """The features that emissions are sums of; see `service.taggers.base.FeatureTagger`."""
        reader = FeatureReader(self._features_of, self._gazetteers, self._pairs.knows)
        sentences = [words[first:end] for first, end in pairwise(sentence_offsets.tolist())]
        return [
            [fired for name in names if (fired := self._weights.fired(name)).weights.any()]
            for sentence in sentences
            for names in reader.features(sentence)
        ]

    def _features_of(self, word: str) -> list[list[str]]:
        return word_features(word, self._clusters, self._classes)

    def _make_entries(self, words: Sequence[str]) -> NDArray[Any]:
        """What depends on the word alone, of N words: (N,) structured."""
        entries = np.empty(len(words), self._entry)
        for i in range(0, len(words), _ENTRIES_AT_ONCE):
            part = slice(i, i + _ENTRIES_AT_ONCE)
            features = map(self._features_of, words[part])
            entries["rows"][part] = self._weights.sum(map(chain.from_iterable, features))
        entries["pair_id"] = [self._pairs.id_of(word.lower()) for word in words]
        entries["single"] = singles = np.array(list(map(self._gazetteers.single, words)))
        matches = (singles >= 0).nonzero()[0]
        if len(matches):
            seen_at = [OFFSETS.index(offset) for offset in SINGLE_SEEN_AT]
            rows = self._match_rows[singles[matches]][:, [*SINGLE_SEEN_AT.values()]]  # (n, 3, K)
            entries["rows"][matches[:, None], seen_at] += rows
        entries["first"] = list(map(self._gazetteers.first, words))
        entries["second"] = list(map(self._gazetteers.second, words))
        return entries

    def _make_pairs(self) -> WordPairs:
        """The rows of all pairs of words that have a weight."""
        names = [name for name in self._weights.names if name.startswith(PAIR)]
        pairs = [_pair_of(name) for name in names]
        rows = self._weights.sum([name] for name in names)  # (P, 5, K)
        return WordPairs(pairs, rows[:, [OFFSETS.index(offset) for offset in PAIR_OFFSETS]])

    def _make_match_rows(self, tags: int) -> NDArray[np.float32]:
        """The row of each set of a gazetteer at each position of a match: (sets, 6, K)."""
        groups = chain.from_iterable(self._gazetteers.features)
        rows = self._weights.sum(groups)[:, OFFSETS.index(0)]
        return rows.reshape(-1, len(POSITIONS), tags)


def _pair_of(name: str) -> tuple[str, str]:
    """The words that a feature of a pair is named after."""
    before, _, after = name.removeprefix(PAIR).partition(" ")
    return before, after


def _sum_over_offsets(entries: NDArray[Any]) -> NDArray[np.float32]:
    """For each of P words the sum of its neighbours' rows at their offsets: (P,) to (P, K)."""
    rows = entries["rows"]  # (P, 5, K)
    word, offset, tag = rows.strides
    # Row (p, i) of this view is that at offset i of the word which stands so from word p + REACH.
    inner = max(len(rows) - 2 * REACH, 0)
    shape = (inner, len(OFFSETS), rows.shape[2])
    seen = np.ndarray(shape, rows.dtype, entries, strides=(word, word + offset, tag))
    sums = np.zeros((len(rows), rows.shape[2]), dtype=np.float32)
    np.add.reduce(seen, axis=1, out=sums[REACH : REACH + inner])
    return sums
