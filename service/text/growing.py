"""Rows of numbers that only grow."""

import numpy as np
from numpy.typing import NDArray

_FIRST_ROWS = 256


class GrowingRows:
    """Rows of integers in one array, to which more are added. One thread at a time may add.

    A reader takes `array` after it knows the rows that it wants, and keeps what it took.

    Parameters
    ----------
    shape : of a row.
    """

    def __init__(self, shape: tuple[int, ...] = ()) -> None:
        self.array: NDArray[np.int64] = np.empty((_FIRST_ROWS, *shape), dtype=np.int64)
        self.count = 0

    def add(self, rows: NDArray[np.int64]) -> int:
        """Add N rows (N, ...), and say which is the first of them."""
        first, end = self.count, self.count + len(rows)
        if end > len(self.array):
            grown = np.empty((2 * end, *self.array.shape[1:]), dtype=np.int64)
            grown[:first] = self.array[:first]
            self.array = grown
        self.array[first:end] = rows
        self.count = end
        return first
