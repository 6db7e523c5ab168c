"""Rows of pairs of neighbouring words: what a word tells only together with the word before it."""

from collections.abc import Mapping, Sequence
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]
Ids = NDArray[np.int64]


class WordPairs:
    """An array for each known pair of words, found for a whole batch at once.

    Parameters
    ----------
    rows : by pair (before, after), the (2, K) rows that it adds to the token `before` and to the
        token `after`.
    tags : K.
    """

    def __init__(self, rows: Mapping[tuple[str, str], Rows], tags: int) -> None:
        words = dict.fromkeys(word for pair in rows for word in pair)
        self._ids = {word: i for i, word in enumerate(words)}
        pairs = [[self._ids[before], self._ids[after]] for before, after in rows]
        keys = self._keys_of(*np.array(pairs, dtype=np.int64).reshape(-1, 2).T)
        order = np.argsort(keys)
        self._keys = keys[order]  # (P,) ascending
        self._rows = np.zeros((len(rows), 2, tags), dtype=np.float32)  # (P, 2, K)
        if rows:
            self._rows[:] = np.stack(list(rows.values()))[order]

    def add(self, emissions: Rows, words: Sequence[str]) -> None:
        """Add the rows of all pairs of neighbouring words.

        Parameters
        ----------
        emissions : (M, K), changed in place.
        words : M words.
        """
        if not len(self._keys):
            return
        ids = np.fromiter(map(self._ids.get, words, repeat(-1)), np.int64, count=len(words))
        keys = self._keys_of(ids[:-1], ids[1:])
        place = np.searchsorted(self._keys, keys)
        place[place == len(self._keys)] = 0
        first = np.flatnonzero(self._keys[place] == keys)
        rows = self._rows[place[first]]  # (pairs found, 2, K)
        emissions[first] += rows[:, 0]
        emissions[first + 1] += rows[:, 1]

    def _keys_of(self, before: Ids, after: Ids) -> Ids:
        """One number for each pair of word ids; -1 where either is unknown, that is negative."""
        known = (before >= 0) & (after >= 0)
        return np.where(known, before * len(self._ids) + after, -1)
