"""Threads, and the requests that wait for one; part of `worker`."""

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")


class Line(Generic[T]):
    """A few threads, and a bounded line before them. What waits has no thread.

    `join` and `overdue` are for one thread alone, that of the poller.

    Parameters
    ----------
    work : what a thread does with each.
    done : what it does then, when this one has left and may join again. Neither may raise.
    threads : how many there are.
    max_waiting : how many wait beside those that are worked on.
    """

    def __init__(
        self,
        work: Callable[[T], None],
        done: Callable[[T], None],
        *,
        threads: int,
        max_waiting: int,
    ) -> None:
        self._work = work
        self._done = done
        self._places = threads + max_waiting
        self._queue: SimpleQueue[T] = SimpleQueue()
        # Taking one's entry out of a dict is atomic: that is how a thread and `overdue` agree.
        self._waiting: dict[T, float] = {}
        self._admitted: dict[T, None] = {}
        for _ in range(threads):
            threading.Thread(target=self._run, daemon=True).start()

    def join(self, one: T, deadline: float) -> bool:
        """Have it worked on; False where as many wait already as may.

        Parameters
        ----------
        one : hashable, and not in the line yet.
        deadline : when waiting is given up, as of `time.monotonic`; those of others are earlier.
        """
        if len(self._admitted) >= self._places:
            return False
        self._admitted[one] = None
        self._waiting[one] = deadline
        self._queue.put(one)
        return True

    def overdue(self) -> list[T]:
        """Take those out whose deadline is over."""
        now = time.monotonic()
        late = [one for one, deadline in list(self._waiting.items()) if deadline <= now]
        taken = [one for one in late if self._waiting.pop(one, None) is not None]
        for one in taken:
            del self._admitted[one]
        return taken

    def _run(self) -> None:
        while True:
            one = self._queue.get()
            if self._waiting.pop(one, None) is not None:
                self._work(one)
                del self._admitted[one]
                self._done(one)
