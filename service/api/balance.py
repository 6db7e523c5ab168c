"""Connections, spread over the workers; part of `worker`.

All workers wait for the same listener, and the kernel leaves it to chance which of them takes a
connection: a client that opens eight at once often has them all in one worker, and half of the
cores to itself. So a worker that has more of them than another waits a moment before it takes one.
"""

import mmap
import time

_SLOTS = 1024
_HEAD_START_S = 0.001
# Anonymous and shared: mapped before the fork. One more than the connections of each worker, by its
# number; none where there is no worker.
_counts = memoryview(mmap.mmap(-1, 4 * _SLOTS)).cast("i")


def say(worker: int, connections: int) -> None:
    """Say how many connections a worker has."""
    _counts[worker % _SLOTS] = connections + 1


def leave(worker: int) -> None:
    """Say that a worker takes no more, or has ended."""
    _counts[worker % _SLOTS] = 0


def let_others_first(worker: int) -> None:
    """Let workers that have fewer connections take the one that has come."""
    mine = _counts[worker % _SLOTS]
    if any(0 < count < mine for count in _counts.tolist()):
        time.sleep(_HEAD_START_S)
