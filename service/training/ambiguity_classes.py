"""Ambiguity classes: which tags words bear in text that a trained model has tagged.

After Cutting et al. (1992), whose classes come of a dictionary. A word that the training data lack
is known to a linear model by its spelling and its cluster alone; a better model has met it in its
sentences.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping

_MIN_COUNT = 5
"""A word that comes less often tells nothing of others."""

_MIN_SHARE = 0.05
_MOST_TAGS = 3
_SURE_SHARE = 0.9


def ambiguity_classes(counts: Mapping[str, Counter[str]]) -> dict[str, str]:
    """The classes of the frequent words of a text.

    Parameters
    ----------
    counts : how often each word bears each tag.

    Returns
    -------
    By word, the tags that it bears often, the most frequent first: ``NN|VB``, or ``NN|VB!`` where
    more than nine in ten are the first of them. A word is there as it is written, where it comes so
    often enough; and in lower case, with the tags of all its cases, unless that is how it is
    written often enough.
    """
    lowered: dict[str, Counter[str]] = defaultdict(Counter)
    for word, tags in counts.items():
        lowered[word.lower()].update(tags)
    return _classes(lowered) | _classes(counts)


def _classes(counts: Mapping[str, Counter[str]]) -> dict[str, str]:
    return {w: _class(tags) for w, tags in counts.items() if tags.total() >= _MIN_COUNT}


def _class(tags: Counter[str]) -> str:
    total = tags.total()
    (first, count), *others = tags.most_common(_MOST_TAGS)
    often = [first, *(tag for tag, n in others if n >= _MIN_SHARE * total)]
    return "|".join(often) + "!" * (count > _SURE_SHARE * total)
