"""The features of a CRF one by one: what training reads off sentences, and an answer explains.

Serving adds up the same features by word, see `service.taggers.crf`, and looks at none of them.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

from service.text.features import (
    BOUNDARY,
    OFFSETS,
    PAIR_OFFSETS,
    REACH,
    features_at,
    pair_feature,
)
from service.text.gazetteers import Gazetteers


class FeatureReader:
    """Reads all features of the tokens of a sentence, by name.

    Parameters
    ----------
    features_of : from a word to its `word_features`.
    gazetteers : the lists of names.
    is_pair : whether two neighbouring words, in lower case, are a feature.
    """

    def __init__(
        self,
        features_of: Callable[[str], Sequence[Sequence[str]]],
        gazetteers: Gazetteers,
        is_pair: Callable[[tuple[str, str]], bool],
    ) -> None:
        self._features_of = features_of
        self._gazetteers = gazetteers
        self._is_pair = is_pair

    def features(self, words: Sequence[str]) -> list[list[str]]:
        """The features of each of T tokens of a sentence: names ``<offset>:<kind>=<value>``."""
        padded = padded_words(words)
        rows: list[list[str]] = [[] for _ in padded]
        for place in range(REACH, len(padded) - REACH):
            for offset in OFFSETS:
                rows[place] += features_at(offset, self._features_of(padded[place + offset]))
        for place, pair in enumerate(pairwise(map(str.lower, padded)), start=1):
            if self._is_pair(pair):
                for offset in PAIR_OFFSETS:
                    rows[place - offset].append(f"{offset}:{pair_feature(*pair)}")
        for place, which, position in self._gazetteers.match(padded):
            names = self._gazetteers.features[which][position]
            rows[place] += [f"0:{name}" for name in names]
        return rows[REACH:-REACH]


def padded_words(words: Sequence[str]) -> list[str]:
    """The words of a sentence with boundary words before and after it."""
    gap = [BOUNDARY] * REACH
    return [*gap, *words, *gap]
