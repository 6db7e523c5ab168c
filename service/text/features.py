"""What a linear model reads off words. A feature depends on one word alone, and its offset.

That restriction is what makes serving fast: what a word tells the tokens near it is computed once
for each word (see `service.taggers.word_rows`), and a token's score is a sum over its neighbours.
Only pairs of neighbouring words are looked up apart (see `service.taggers.word_pairs`).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

OFFSETS = (-2, -1, 0, 1, 2)
"""The words that a token looks at, from two before it to two after it."""

REACH = OFFSETS[-1]
"""How many words before and after it a token looks at."""

BOUNDARY = ""
"""The word that stands before and after every sentence; no token is empty."""

PAIR = "pair="
"""How the feature of a pair of neighbouring words begins; the second of them has it."""

PAIR_OFFSETS = (1, 0)
"""How far the second word of a pair stands from the two tokens that the pair is for."""

_MAX_SHAPE = 16
"""A longer shape is cut, so that no feature grows with the length of a word."""

_MAX_WORD = 64
"""A longer word is no vocabulary entry: its identity is left out."""


class WordClusters:
    """Clusters of words at G grains; words are looked up in lower case.

    Parameters
    ----------
    ids : of V words in lower case, from 0.
    clusters : (V, G) integers, the cluster of each word at each grain.
    """

    def __init__(self, ids: Mapping[str, int], clusters: NDArray[np.integer]) -> None:
        self._ids = ids
        self._clusters = clusters

    def names(self, lower: str) -> list[str]:
        """``cluster<grain>=<id>`` at each grain; nothing for a word that is in no cluster."""
        i = self._ids.get(lower)
        if i is None:
            return []
        return [f"cluster{grain}={c}" for grain, c in enumerate(self._clusters[i].tolist())]


NO_CLUSTERS = WordClusters({}, np.zeros((0, 0), dtype=np.int16))

NO_CLASSES: Mapping[str, str] = {}


def word_features(
    word: str,
    clusters: WordClusters = NO_CLUSTERS,
    classes: Mapping[str, str] = NO_CLASSES,
) -> list[list[str]]:
    """Features of `word`, for the tokens that it stands near.

    Parameters
    ----------
    word : the word, or `BOUNDARY` outside of the sentence.
    clusters : what clusters words are in.
    classes : the ambiguity classes of words, which are looked up as written, then in lower case.

    Returns
    -------
    Three lists of distinct names ``<kind>=<value>``. Tokens two words away see the first, next
    neighbours the second as well, and the token itself all: identity, lower case, shape, prefixes
    and suffixes, clusters, conjunctions of these with the shape, the ambiguity class, and what
    characters it holds.
    """
    if word == BOUNDARY:
        return [["boundary"], [], []]
    lower = word.lower()
    shape = _shape(word)
    runs = _runs(shape)[:_MAX_SHAPE]
    far = [f"runs={runs}"]
    if len(word) <= _MAX_WORD:
        far.append(f"lower={lower}")
    near = [f"shape={shape[:_MAX_SHAPE]}", f"prefix3={lower[:3]}"]
    near += [f"suffix{length}={lower[-length:]}" for length in range(1, min(3, len(lower)) + 1)]
    if len(word) <= _MAX_WORD:
        near.append(f"word={word}")
    for cluster in clusters.names(lower):
        near += [cluster, f"{cluster}|{runs}"]
    ambiguity = classes.get(word) or classes.get(lower)
    if ambiguity is not None:
        near.append(f"tags={ambiguity}")
    return [far, near, _own_features(word, lower, runs)]


def features_at(offset: int, features: Sequence[Sequence[str]]) -> Iterator[str]:
    """What a token sees of the word at `offset`: names ``<offset>:<kind>=<value>``.

    Parameters
    ----------
    offset : of `OFFSETS`.
    features : `word_features` of that word.
    """
    seen = features[: len(features) - abs(offset)]
    return (f"{offset}:{name}" for names in seen for name in names)


def pair_feature(before: str, after: str) -> str:
    """The feature of two neighbouring words, in lower case; it stands where `after` stands."""
    return f"{PAIR}{before} {after}"


def _own_features(word: str, lower: str, runs: str) -> list[str]:
    """Features that only the token itself sees."""
    kinds = [f"ending={word[-3:]}", f"length={min(len(word), 12)}"]
    kinds += [f"suffix3={lower[-3:]}|{runs}", f"prefix3={lower[:3]}|{runs}"]
    kinds += [f"prefix{length}={lower[:length]}" for length in (1, 2, 4, 5) if length <= len(lower)]
    kinds += [f"suffix{length}={lower[-length:]}" for length in (4, 5, 6) if length <= len(lower)]
    if "d" in runs:
        kinds.append("digit")
    if "-" in word[1:-1]:
        kinds.append("hyphen")
    if not any(map(str.isalnum, word)):
        kinds.append("symbol")
    if word.isupper():
        kinds.append("upper")
    return kinds


class _Shapes(dict[int, str]):
    """What a character is in a shape, by code point."""

    def __missing__(self, code: int) -> str:
        c = chr(code)
        return "X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c


_SHAPES = _Shapes({code: _Shapes()[code] for code in range(128)})


def _shape(word: str) -> str:
    """``X`` for upper case, ``x`` for lower case and other letters, ``d`` for digits.

    Reads the first `_MAX_WORD` characters; others stand for themselves.
    """
    return word[:_MAX_WORD].translate(_SHAPES)


def _runs(shape: str) -> str:
    """The shape with every run of one character as one: ``Xxxxx-ddd`` to ``Xx-d``."""
    return "".join(map(itemgetter(0), groupby(shape)))
