"""A file of one process's series, in the format of prometheus-client's multi-process mode.

`MmapedDict` of prometheus-client describes it, and its collector reads it: a head with the number
of bytes that are used, then for each series its key, its value and a time, which is unused here.
"""

import mmap
import struct
from pathlib import Path

_HEAD_BYTES = 8
_FIRST_BYTES = 2**16
_used = struct.Struct("i").pack


class ValueFile(dict[str, int]):
    """The places of the series in `numbers`, by key. One that is new begins at zero.

    Parameters
    ----------
    path : where it is made.

    Attributes
    ----------
    numbers : the file as numbers of eight bytes. A new series may replace it, so look its place up
        first. A write to it is seen by other processes at once, and stays when this one ends.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._used = _HEAD_BYTES
        self._map(_FIRST_BYTES)
        self._bytes[:4] = _used(self._used)

    def go_on(self, path: Path) -> None:
        """Go on in another file: with the same series in the same places, all of them zero."""
        series = bytearray(self._bytes[: self._used])
        numbers = memoryview(series).cast("d")
        for place in self.values():
            numbers[place] = 0.0
        self._path = path
        self._map(len(self._bytes))
        self._bytes[_HEAD_BYTES : self._used] = series[_HEAD_BYTES:]
        self._bytes[:4] = _used(self._used)

    def __missing__(self, key: str) -> int:
        text = key.encode()
        text_bytes = len(text) + 8 - (len(text) + 4) % 8  # so that the value's place is whole
        series = struct.pack(f"i{text_bytes}sdd", len(text), text.ljust(text_bytes), 0.0, 0.0)
        end = self._used + len(series)
        if end > len(self._bytes):
            self._map(2 * len(self._bytes))
        self._bytes[self._used : end] = series
        self._bytes[:4] = _used(end)  # readers see it from here
        self._used = end
        place = self[key] = end // 8 - 2
        return place

    def _map(self, size: int) -> None:
        # Readers cannot read an empty file, so a new one has its name when it has its size.
        path = self._path if self._path.exists() else self._path.with_suffix(".new")
        with path.open("a+b") as file:
            file.truncate(size)
            self._bytes = mmap.mmap(file.fileno(), size)
        path.rename(self._path)
        self.numbers = memoryview(self._bytes).cast("d")
