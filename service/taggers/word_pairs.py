"""Rows of pairs of neighbouring words: what a word tells only together with the word before it."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]
Ids = NDArray[np.int64]


class WordPairs:
    """An array for each known pair of words, found for a whole batch at once.

    Parameters
    ----------
    pairs : P different pairs (before, after).
    rows : (P, 2, K) what a pair adds to the token `before` and to the token `after`.
    """

    def __init__(self, pairs: Sequence[tuple[str, str]], rows: Rows) -> None:
        words = dict.fromkeys(chain.from_iterable(pairs))
        self._ids = {word: i for i, word in enumerate(words, start=1)}
        ids = [[self._ids[before], self._ids[after]] for before, after in pairs]
        keys = self._keys_of(np.array(ids, dtype=np.int64).reshape(-1, 2)).ravel()
        order = np.argsort(keys)
        self._keys = np.append(keys[order], -1)  # (P + 1,) ascending; the last is never found
        self._rows = np.ascontiguousarray(rows[order].swapaxes(0, 1))  # (2, P, K)

    def id_of(self, word: str) -> int:
        """What a word is called in pairs: from 1; 0 where it is in none."""
        return self._ids.get(word, 0)

    def knows(self, pair: tuple[str, str]) -> bool:
        """Whether it is a pair (before, after) that has rows."""
        key = self._keys_of(np.array(list(map(self.id_of, pair)), dtype=np.int64))
        return bool((self._keys[:-1] == key).any())

    def add(self, emissions: Rows, ids: Ids) -> None:
        """Add the rows of all pairs of neighbouring words.

        Parameters
        ----------
        emissions : (M, K), changed in place.
        ids : (M,) of the words, by `id_of`.
        """
        keys = self._keys_of(ids)  # (M - 1,)
        place = self._keys[:-1].searchsorted(keys)
        first = (self._keys[place] == keys).nonzero()[0]
        if len(first):
            rows = self._rows.take(place.take(first), axis=1)  # (2, n, K)
            for of_word, row in zip((first, first + 1), rows, strict=True):
                emissions[of_word] = emissions.take(of_word, axis=0) + row

    def _keys_of(self, ids: Ids) -> Ids:
        """One number for each pair of neighbours; none of a known pair where either id is 0."""
        return ids[..., :-1] * (len(self._ids) + 1) + ids[..., 1:]
