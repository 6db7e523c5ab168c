"""The weights of a linear model by feature name, packed as arrays."""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from service.taggers.base import FiredFeature, Parameters
from service.text.features import OFFSETS
from service.text.tokens import consecutive


class FeatureWeights:
    """A attributes, that is feature names, each with weights for some tags at some offsets.

    Parameters
    ----------
    parameters : of K tags, with the vocabulary ``attributes`` (A) and the arrays
        ``attribute_offsets`` (A + 1,), ``weights`` (N,) and ``weight_cells`` (N,): attribute a has
        the weights from ``attribute_offsets[a]`` to ``attribute_offsets[a + 1]``, each for the
        cell ``offset * K + tag``, where `offset` is an index into `OFFSETS`.

    Raises
    ------
    ValueError
        Where they do not fit each other or the labels.
    """

    def __init__(self, parameters: Parameters) -> None:
        self._shape = (len(OFFSETS), len(parameters.labels))
        self._ids = parameters.ids("attributes")
        self._bounds = parameters.array("attribute_offsets", (len(self._ids) + 1,), "iu")
        self._weights = parameters.array("weights", (None,))
        self._cells = parameters.array("weight_cells", (len(self._weights),), "iu")
        bounds, cells = self._bounds, self._cells
        if bounds[0] != 0 or bounds[-1] != len(cells) or (bounds[1:] < bounds[:-1]).any():
            raise ValueError("the array attribute_offsets does not rise from 0 to the weights")
        if len(cells) and not 0 <= cells.min() <= cells.max() < np.prod(self._shape):
            raise ValueError("the array weight_cells names a cell that is not there")

    @property
    def names(self) -> Iterable[str]:
        """The A attributes."""
        return self._ids.keys()

    def fired(self, name: str) -> FiredFeature:
        """A feature as a token sees it, and what it weighs.

        Parameters
        ----------
        name : ``<offset>:<kind>=<value>``; one that is no attribute weighs nothing.
        """
        offset, _, attribute = name.partition(":")
        weights = np.zeros(self._shape)
        if (i := self._ids.get(attribute)) is not None:
            part = slice(self._bounds[i], self._bounds[i + 1])
            np.add.at(weights.reshape(-1), self._cells[part], self._weights[part])
        return FiredFeature(name, weights[OFFSETS.index(int(offset))])

    def sum(self, groups: Iterable[Iterable[str]]) -> NDArray[np.float32]:
        """Add up the weights of the features of each of N groups.

        Parameters
        ----------
        groups : feature names; one that is no attribute weighs nothing.

        Returns
        -------
        (N, 5, K) the score that a group gives each tag of the tokens that see it at `OFFSETS`.
        """
        found: list[int] = []  # attribute ids, n in all
        counts: list[int] = []  # of each group
        for names in groups:
            before = len(found)
            found += [i for i in map(self._ids.get, names) if i is not None]
            counts.append(len(found) - before)
        attributes = np.array(found, dtype=np.int64)  # (n,)
        # Every attribute stands for its slice of the weights: m of them in all.
        firsts = self._bounds.take(attributes)
        lengths = self._bounds.take(attributes + 1) - firsts
        weights = consecutive(firsts, lengths)  # (m,)
        cells = math.prod(self._shape)
        of_group = np.repeat(np.arange(0, cells * len(counts), cells), counts)  # (n,)
        cell = np.repeat(of_group, lengths) + self._cells.take(weights)  # (m,)
        sums = np.bincount(cell, self._weights.take(weights), cells * len(counts))
        return sums.astype(np.float32).reshape(len(counts), *self._shape)
