"""The weights of a linear model by feature name, packed as arrays."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from service.taggers.base import Parameters


class FeatureWeights:
    """A attributes, that is feature names, each with weights for some of the K tags.

    Parameters
    ----------
    parameters : with the vocabulary ``attributes`` (A) and the arrays ``attribute_offsets``
        (A + 1,), ``weights`` (N,) and ``weight_tags`` (N,): attribute a has the weights from
        ``attribute_offsets[a]`` to ``attribute_offsets[a + 1]``.

    Raises
    ------
    ValueError
        Where they do not fit each other or the labels.
    """

    def __init__(self, parameters: Parameters) -> None:
        names = parameters.vocabulary("attributes")
        self._tags = len(parameters.labels)
        self._ids = {name: i for i, name in enumerate(names)}
        self._bounds = parameters.array("attribute_offsets", (len(names) + 1,), "iu")
        self._weights = parameters.array("weights", (None,))
        self._weight_tags = parameters.array("weight_tags", (len(self._weights),), "iu")
        bounds, tags = self._bounds, self._weight_tags
        if bounds[0] != 0 or bounds[-1] != len(tags) or (bounds[1:] < bounds[:-1]).any():
            raise ValueError("the array attribute_offsets does not rise from 0 to the weights")
        if len(tags) and not 0 <= tags.min() <= tags.max() < self._tags:
            raise ValueError("the array weight_tags names a tag that is not there")

    @property
    def names(self) -> Iterable[str]:
        """The A attributes."""
        return self._ids.keys()

    def sum(self, groups: Iterable[Iterable[str]]) -> NDArray[np.float32]:
        """Add up the weights of the features of each of N groups.

        Parameters
        ----------
        groups : feature names; one that is no attribute weighs nothing.

        Returns
        -------
        (N, K) the score that a group gives each tag.
        """
        found: list[int] = []  # attribute ids, n in all
        counts: list[int] = []  # of each group
        known = self._ids
        for names in groups:
            ids = [known[name] for name in names if name in known]
            found += ids
            counts.append(len(ids))
        group = np.repeat(np.arange(len(counts)), counts)  # (n,)
        attributes = np.array(found, dtype=np.int64)  # (n,)
        # Every attribute stands for its slice of the weights: m of them in all.
        firsts = self._bounds[attributes].astype(np.int64)
        lengths = self._bounds[attributes + 1] - firsts
        before = lengths.cumsum() - lengths
        weight = np.arange(lengths.sum()) + np.repeat(firsts - before, lengths)  # (m,)
        cell = np.repeat(group, lengths) * self._tags + self._weight_tags[weight]  # (m,)
        size = len(counts) * self._tags
        sums = np.bincount(cell, weights=self._weights[weight], minlength=size)
        return sums.astype(np.float32).reshape(len(counts), self._tags)
