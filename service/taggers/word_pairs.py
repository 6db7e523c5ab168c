"""Rows of pairs of neighbouring words: what a word tells only together with the word before it."""

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]
Ids = NDArray[np.int64]


class WordPairs:
    """Arrays for each known pair of words, found for a whole batch at once.

    Parameters
    ----------
    pairs : P different pairs (before, after).
    rows : by offset (P, K): what a pair adds to the token that the word `after` stands so far from,
        2 for the token before the pair to -1 for the one after it.
    """

    def __init__(self, pairs: Sequence[tuple[str, str]], rows: Mapping[int, Rows]) -> None:
        words = dict.fromkeys(chain.from_iterable(pairs))
        self._ids = {word: i for i, word in enumerate(words, start=1)}
        ids = [[self._ids[before], self._ids[after]] for before, after in pairs]
        keys = self._keys_of(np.array(ids, dtype=np.int64).reshape(-1, 2)).ravel()
        order = np.argsort(keys)
        self._keys = np.append(keys[order], -1)  # (P + 1,) ascending; the last is never found
        self._rows = [(offset, of_pairs[order]) for offset, of_pairs in rows.items()]

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
        emissions : (M + 2, K), those of M words and a row more before and after them, changed in
            place.
        ids : (M,) of the words, by `id_of`.
        """
        keys = self._keys_of(ids)  # (M - 1,)
        place = self._keys[:-1].searchsorted(keys)
        first = (self._keys[place] == keys).nonzero()[0]
        if len(first):
            found = place.take(first)
            for offset, rows in self._rows:
                tokens = first + (2 - offset)
                emissions[tokens] = emissions.take(tokens, axis=0) + rows.take(found, axis=0)

    def _keys_of(self, ids: Ids) -> Ids:
        """One number for each pair of neighbours; none of a known pair where either id is 0."""
        return ids[..., :-1] * (len(self._ids) + 1) + ids[..., 1:]
