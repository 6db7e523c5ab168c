"""What depends on the word alone is computed once: a table, and a bounded cache for the rest."""

import math
from collections.abc import Callable, Sequence
from itertools import repeat
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from service.text.growing import GrowingRows
from service.text.words import Ids, Vocabulary, Words, chosen

Rows = NDArray[Any]

_MAX_KEY_CHARS = 100
"""A longer unseen word is not kept, so that the cache's memory is bounded too."""


class UnseenWords(NamedTuple):
    """What a cache of unseen words has done since it was made.

    Attributes
    ----------
    hits, misses : words that were kept when they were looked up, and words that were not.
    kept : words that are kept now.
    """

    hits: int
    misses: int
    kept: int


class WordRows:
    """An array for every word, gathered for many words at once.

    Rows of known words are one table, made at load, before the workers fork, and never written
    again. Other words are unseen until they come: their rows are computed then, and kept in an
    `_UnseenRows`. Which words are known changes the time of a start, and no row.

    Parameters
    ----------
    words : the V known words, at least one.
    table : (V, ...) their rows.
    compute : from N other words to their (N, ...) rows, always the same for the same word.
    max_unseen : how many unseen words are kept.
    """

    def __init__(
        self,
        words: Sequence[str],
        table: Rows,
        compute: Callable[[Sequence[str]], Rows],
        max_unseen: int,
    ) -> None:
        self._ids = {word: i for i, word in enumerate(words)}
        self._ids_of: WeakKeyDictionary[Vocabulary, GrowingRows] = WeakKeyDictionary()
        self._lock = Lock()
        self._table = _whole(table)
        self._shape, self._dtype = table.shape[1:], table.dtype
        self._compute = compute
        self._unseen = _UnseenRows(self._compute_whole, self._table.dtype, max_unseen)

    def gather(self, words: Sequence[str]) -> Rows:
        """Rows of M words, (M, ...): a new array, which the caller may write to."""
        ids = self._look_up(words)
        # An unseen word has the first row here, until it gets its own.
        rows = self._table.take(ids, mode="clip")
        unseen = (ids < 0).nonzero()[0]
        if len(unseen):
            rows[unseen] = self._unseen.gather(list(chosen(words, unseen)))
        return rows.view(self._dtype).reshape(len(rows), *self._shape)

    def _look_up(self, words: Sequence[str]) -> Ids:
        """Where in the table the rows of M words are, (M,); -1 where they aren't."""
        if not isinstance(words, Words):
            return np.fromiter(map(self._ids.get, words, repeat(-1)), np.int64, count=len(words))
        vocabulary = words.vocabulary
        known = self._ids_of.get(vocabulary)
        if known is None or known.count < len(vocabulary):
            with self._lock:
                known = self._ids_of.setdefault(vocabulary, GrowingRows())
                known.add(self._look_up(vocabulary.words[known.count :]))
        return known.array.take(words.ids)

    def _compute_whole(self, words: Sequence[str]) -> Rows:
        return _whole(self._compute(words).astype(self._dtype, copy=False))

    @property
    def unseen_words(self) -> UnseenWords:
        """How the rows of unseen words were come by."""
        return self._unseen.use


def _whole(rows: Rows) -> Rows:
    """Rows (N, ...) as N bytes each, (N,): they are copied whole, whatever is in them."""
    size = rows.itemsize * math.prod(rows.shape[1:])
    return np.ascontiguousarray(rows).reshape(-1).view(f"V{size}")


class _UnseenRows:
    """A bounded cache of rows. When it is full, the whole generation makes room for the next.

    A caller gets a copy that was made under the lock, so no later change reaches a running batch.
    """

    def __init__(
        self,
        compute: Callable[[Sequence[str]], Rows],
        dtype: np.dtype[np.void],
        capacity: int,
    ) -> None:
        self._compute = compute
        self._capacity = capacity
        self._lock = Lock()
        self._slots: dict[str, int] = {}
        self._rows = np.empty(max(capacity, 1), dtype)
        self._hits = self._misses = 0

    @property
    def use(self) -> UnseenWords:
        """See `WordRows.unseen_words`."""
        with self._lock:
            return UnseenWords(self._hits, self._misses, len(self._slots))

    def gather(self, words: Sequence[str]) -> Rows:
        """Rows of N words, (N,)."""
        with self._lock:
            slots = list(map(self._slots.get, words, repeat(-1)))
            rows: Rows = self._rows.take(slots, mode="clip")
            misses = slots.count(-1)
            self._misses += misses
            self._hits += len(slots) - misses
        if misses:
            missing = [i for i, slot in enumerate(slots) if slot < 0]
            new = list(dict.fromkeys(words[i] for i in missing))
            position = {word: n for n, word in enumerate(new)}
            computed = self._compute(new)
            rows[missing] = computed[[position[words[i]] for i in missing]]
            with self._lock:
                self._keep(new, computed)
        return rows

    def _keep(self, words: Sequence[str], rows: Rows) -> None:
        for word, row in zip(words, rows, strict=True):
            if word in self._slots or len(word) > _MAX_KEY_CHARS or not self._capacity:
                continue
            if len(self._slots) == self._capacity:
                self._slots = {}
            self._rows[len(self._slots)] = row
            self._slots[word] = len(self._slots)
