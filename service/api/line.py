"""Threads, and the requests that wait for one; part of `worker`.

One thread at a time takes requests, so that short ones are not answered by several, which would
compete for Python's lock and take the caches of one core to another. Only where a request takes
long does the next thread take over, while the first goes on with it.
"""

import math
import threading
import time
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")
_LOOK_AGAIN_S = 0.001


def _cpu_clock() -> Callable[[], float]:
    """A clock that tells any thread how long this one has computed.

    A thread that does not get its core, since the machine is busy, is not at long work.
    """
    if not hasattr(time, "pthread_getcpuclockid"):  # macOS
        return time.monotonic
    return partial(time.clock_gettime, time.pthread_getcpuclockid(threading.get_ident()))


class _Term:
    """The time in which one thread takes requests; `since` is when it began with the present."""

    since: float | None = None

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock


class Line(Generic[T]):
    """A few threads, and a bounded line before them. What waits has no thread.

    `join`, `relieve` and `overdue` are for one thread alone, that of the poller.

    Parameters
    ----------
    work : what a thread does with each.
    done : what it does then, when this one has left and may join again. Neither may raise.
    threads : how many there are.
    max_waiting : how many wait beside those that are worked on.
    long_s : computing time after which the next thread takes over; 0 where work waits for others.
    """

    def __init__(
        self,
        work: Callable[[T], None],
        done: Callable[[T], None],
        *,
        threads: int,
        max_waiting: int,
        long_s: float,
    ) -> None:
        self._work = work
        self._done = done
        self._long_s = long_s
        self._places = threads + max_waiting
        self._queue: SimpleQueue[T] = SimpleQueue()
        # Taking one's entry out of a dict is atomic: that is how a thread and `overdue` agree.
        self._waiting: dict[T, float] = {}
        self._admitted: dict[T, None] = {}
        self._may_take = threading.Lock()
        self._term = _Term(time.monotonic)
        for _ in range(threads):
            threading.Thread(target=self._run, daemon=True).start()

    @property
    def waiting(self) -> int:
        """How many no thread works on yet."""
        return len(self._waiting)

    def join(self, one: T, deadline: float) -> bool:
        """Have it worked on; False where as many wait already as may.

        Parameters
        ----------
        one : hashable, and not in the line yet.
        deadline : when waiting is given up, as of `time.monotonic`.
        """
        if len(self._admitted) >= self._places:
            return False
        self._admitted[one] = None
        self._waiting[one] = deadline
        self._queue.put(one)
        return True

    def relieve(self) -> float:
        """Have the next thread take requests where this one is long at work, and others wait.

        Returns
        -------
        Seconds after which to look again.
        """
        if not self._waiting:
            return math.inf
        since = self._term.since
        if since is not None:
            left_s = since + self._long_s - self._term.clock()
            if left_s > 0:
                return left_s
            self._term = _Term(time.monotonic)
            self._may_take.release()
        return max(self._long_s, _LOOK_AGAIN_S)  # a thread is about to begin

    def overdue(self) -> list[T]:
        """Take those out whose deadline is over."""
        now = time.monotonic()
        late = [one for one, deadline in list(self._waiting.items()) if deadline <= now]
        taken = [one for one in late if self._waiting.pop(one, None) is not None]
        for one in taken:
            del self._admitted[one]
        return taken

    def _run(self) -> None:
        clock = _cpu_clock()
        while True:
            self._may_take.acquire()
            term = self._term = _Term(clock)
            while self._term is term:
                one = self._queue.get()
                term.since = clock()
                if self._waiting.pop(one, None) is not None:
                    self._work(one)
                    del self._admitted[one]
                    self._done(one)
                term.since = None
