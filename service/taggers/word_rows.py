"""What depends on the word alone is computed once: a table, and a bounded cache for the rest."""

import math
from collections.abc import Callable, Sequence
from itertools import count, repeat
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from service.text.growing import GrowingRows
from service.text.words import Ids, Vocabulary, Words

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

    Rows of known words are made at load, before the workers fork, and shared by them. Rows of other
    words are computed when they first come, and kept behind them. When there is room for no more,
    all of these make room for the next.

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
        self._shape, self._dtype = table.shape[1:], table.dtype
        self._compute = compute
        self._lock = Lock()
        self._known = {word: place for place, word in enumerate(words)}
        self._places = dict(self._known)  # of all words that have a row
        self._rows = np.empty(len(words) + max_unseen, self._whole_dtype)
        self._rows[: len(words)] = self._whole(table)
        self._places_in: WeakKeyDictionary[Vocabulary, GrowingRows] = WeakKeyDictionary()
        self._hits = self._misses = 0

    def gather(self, words: Sequence[str]) -> Rows:
        """Rows of M words, (M, ...): a new array, which the caller may write to."""
        # What is kept may be overwritten once the lock is let go, but not what was taken from it.
        with self._lock:
            places = self._look_up(words)
            missing = self._still_missing(words, places) if len(places) and places.min() < 0 else ()
            rows = self._rows.take(places, mode="clip")
            self._hits += int(np.count_nonzero(places >= len(self._known)))
            self._misses += len(missing)
        if len(missing):
            rows[missing] = self._new_rows([words[i] for i in missing])
        return rows.view(self._dtype).reshape(len(rows), *self._shape)

    def _look_up(self, words: Sequence[str]) -> Ids:
        """Where the rows of M words are, (M,); -1 where there are none, or were none before."""
        if not isinstance(words, Words):
            return np.fromiter(map(self._places.get, words, repeat(-1)), np.int64, count=len(words))
        known = self._places_in.setdefault(words.vocabulary, GrowingRows())
        if known.count < len(words.vocabulary):
            known.add(self._look_up(words.vocabulary.words[known.count :]))
        return known.array.take(words.ids)

    def _still_missing(self, words: Sequence[str], places: Ids) -> list[int]:
        """Put in `places` what has come since; say which of the words have no row even so."""
        indices = (places < 0).nonzero()[0].tolist()
        for i in indices:
            places[i] = self._places.get(words[i], -1)
        if isinstance(words, Words):
            self._places_in[words.vocabulary].array[words.ids[indices]] = places[indices]
        return [i for i in indices if places[i] < 0]

    def _new_rows(self, words: Sequence[str]) -> Rows:
        """Compute the rows of N words, (N,), and keep them."""
        new = {word: n for n, word in enumerate(dict.fromkeys(words))}
        rows = self._whole(self._compute(list(new)).astype(self._dtype, copy=False))
        with self._lock:
            self._keep(new, rows)
        return rows[[new[word] for word in words]]

    def _keep(self, new: dict[str, int], rows: Rows) -> None:
        """Keep rows (N,) of N words, as many as there is room for at all."""
        words = [w for w in new if w not in self._places and len(w) <= _MAX_KEY_CHARS]
        words = words[: len(self._rows) - len(self._known)]
        if len(self._places) + len(words) > len(self._rows):
            self._drop_unseen()  # at most once, however many words came
        first = len(self._places)
        self._rows[first : first + len(words)] = rows[[new[word] for word in words]]
        self._places.update(zip(words, count(first)))

    def _drop_unseen(self) -> None:
        self._places = dict(self._known)
        for known in self._places_in.values():
            known.array[known.array >= len(self._known)] = -1

    @property
    def _whole_dtype(self) -> np.dtype[np.void]:
        return np.dtype(f"V{self._dtype.itemsize * math.prod(self._shape)}")

    def _whole(self, rows: Rows) -> Rows:
        """Rows (N, ...) as N bytes each, (N,): they are copied whole, whatever is in them."""
        return np.ascontiguousarray(rows).reshape(-1).view(self._whole_dtype)

    @property
    def unseen_words(self) -> UnseenWords:
        """How the rows of unseen words were come by."""
        with self._lock:
            kept = len(self._places) - len(self._known)
            return UnseenWords(self._hits, self._misses, kept)
