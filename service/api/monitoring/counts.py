"""What this process has counted: its own files, which prometheus-client's collector adds up.

The files are those of its multi-process mode; see `value_file`. Its own counters take a lock, ask
for the number of the process and pass through four calls for each number, and a request has a dozen
of them: here they are added together, in a tenth of the time. Each is in memory that outlives the
process before its request is answered, so no end of a worker, however sudden, loses one.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from prometheus_client.mmap_dict import mmap_key

from service.api.monitoring.value_file import ValueFile
from service.api.monitoring.worker_files import open_folder

COUNTER = "counter"
HISTOGRAM = "histogram"
GAUGE = "gauge_livesum"
"""The kinds of metrics, as the collector reads them in the names of the files; it adds the gauges
of the living processes up."""


class _Files(dict[str, ValueFile]):
    """Those of this process, by kind, made when they are first looked up."""

    def __missing__(self, kind: str) -> ValueFile:
        file = self[kind] = ValueFile(_path(kind))
        return file


def _path(kind: str) -> Path:
    return open_folder() / f"{kind}_{os.getpid()}.db"


_files = _Files()
_lock = Lock()


class Series:
    """A series of this process, which finds its place in the file when it is first counted.

    Parameters
    ----------
    kind : of its metric.
    key : its name and labels, as they stand in the file.

    Attributes
    ----------
    file : where it is counted.
    place : its place there; 0 before it is found.
    """

    __slots__ = ("_key", "_kind", "file", "place")

    def __init__(self, kind: str, key: str) -> None:
        self._kind = kind
        self._key = key
        self.file: ValueFile
        self.place = 0

    def find(self) -> int:
        """Find the place."""
        self.file = _files[self._kind]
        self.place = self.file[self._key]
        return self.place


class Metric(NamedTuple):
    """A metric: its series differ in their labels.

    Attributes
    ----------
    kind : `COUNTER`, `HISTOGRAM` or `GAUGE`.
    name : without the suffix that a series of its kind has.
    text : what it tells.
    labels : names of the labels.
    """

    kind: str
    name: str
    text: str
    labels: tuple[str, ...] = ()

    def series(self, *values: str) -> Series:
        """The series of a counter or a gauge whose labels have these values."""
        suffix = "_total" if self.kind == COUNTER else ""
        return self._series(suffix, self.labels, values)

    def sum_series(self, *values: str) -> Series:
        """The series of a histogram that has the sum of what was observed."""
        return self._series("_sum", self.labels, values)

    def bucket_series(self, bounds: Iterable[float], *values: str) -> list[Series]:
        """The series of a histogram that count what is up to each bound and over the one before.

        The collector adds them up, and so finds how many were observed.
        """
        labels = (*self.labels, "le")
        return [self._series("_bucket", labels, (*values, str(bound))) for bound in bounds]

    def _series(self, suffix: str, labels: tuple[str, ...], values: tuple[str, ...]) -> Series:
        key = mmap_key(self.name, self.name + suffix, list(labels), list(values), self.text)
        return Series(self.kind, key)


def add(amounts: Iterable[tuple[Series, float]]) -> None:
    """Add to several series; those that are new begin at zero."""
    with _lock:
        for series, amount in amounts:
            place = series.place or series.find()
            series.file.numbers[place] += amount


def put(series: Series, value: float) -> None:
    """Set a gauge."""
    with _lock:
        place = series.place or series.find()
        series.file.numbers[place] = value


def _begin_process() -> None:
    """Count in files of this process from here, and from zero."""
    global _lock
    _lock = Lock()
    for kind, file in _files.items():
        file.go_on(_path(kind))


os.register_at_fork(after_in_child=_begin_process)
