"""Rows of pairs of neighbouring words: what a word tells only together with the word before it."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]
Ids = NDArray[np.int64]

_HASH_BITS = 16
_GOLDEN_RATIO = 0x9E3779B97F4A7C15 - (1 << 64)  # times 2 ** 64, to multiply by (Knuth, 6.4)


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
        self._hashes = np.zeros(1 << _HASH_BITS, dtype=np.bool_)  # those of known pairs
        self._hashes[_hashes_of(keys)] = True
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
        # Of most pairs the hash says that they are not known, in a sixth of the time of a search.
        first = self._hashes.take(_hashes_of(keys)).nonzero()[0]
        keys = keys.take(first)
        place = self._keys[:-1].searchsorted(keys)
        known = (self._keys.take(place) == keys).nonzero()[0]
        if len(known):
            first = first.take(known)
            rows = self._rows.take(place.take(known), axis=1)  # (2, n, K)
            for of_word, row in zip((first, first + 1), rows, strict=True):
                emissions[of_word] = emissions.take(of_word, axis=0) + row

    def _keys_of(self, ids: Ids) -> Ids:
        """One number for each pair of neighbours; none of a known pair where either id is 0."""
        return ids[..., :-1] * (len(self._ids) + 1) + ids[..., 1:]


def _hashes_of(keys: Ids) -> Ids:
    """The hashes of keys (N,), below ``2 ** _HASH_BITS``: the upper bits of their products."""
    return keys * _GOLDEN_RATIO >> (64 - _HASH_BITS) & (1 << _HASH_BITS) - 1
