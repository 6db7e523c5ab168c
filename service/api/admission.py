"""Admission: how much is tagged at once, and for how long a request may wait and be tagged."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from service.api.problems import DEADLINE_EXCEEDED, Problem
from service.config import Settings

RETRY_AFTER = {"Retry-After": "1"}
_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)
_has_turn: ContextVar[bool] = ContextVar("has_turn", default=False)


class DeadlineExceeded(Problem):
    """The work of a request is given up: nobody waits for the rest of it."""

    def __init__(self) -> None:
        detail = "the request took longer than TRELLIS_REQUEST_TIMEOUT_S; ask for less at once"
        super().__init__(DEADLINE_EXCEEDED, detail)


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Answer a request in here whose time is over at `deadline`, as of `time.monotonic`."""
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


def current_deadline() -> float | None:
    """When the time of the request is over that this thread works for; None where it has none."""
    return _deadline.get()


def check_deadline() -> None:
    """Give up the request that this thread works for where its time is over.

    Raises
    ------
    DeadlineExceeded
    """
    deadline = _deadline.get()
    if deadline is not None and time.monotonic() >= deadline:
        raise DeadlineExceeded


class Admission:
    """The turns of a worker's threads: so many tag at once.

    The server has no more threads than that for requests, so these have their turn at once, unless
    streams do. Its line of waiting requests is before that; see `worker`.
    """

    def __init__(self, settings: Settings) -> None:
        self._timeout_s = settings.request_timeout_s
        self._running = threading.Semaphore(settings.max_running)

    @contextmanager
    def place(self) -> Iterator[None]:
        """Work in here for a request. A thread that does so already keeps its turn.

        Raises
        ------
        DeadlineExceeded
            The time was over before it was this one's turn.
        """
        deadline = _deadline.get()
        if _has_turn.get():
            yield
        elif deadline is None:
            with self.turn():
                yield
        else:
            self._begin_turn(deadline)
            try:
                yield
            finally:
                self._end_turn()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Work in here for some lines of a stream, which have a time of their own.

        Raises
        ------
        DeadlineExceeded
            The time was over before it was this one's turn.
        """
        deadline = time.monotonic() + self._timeout_s
        self._begin_turn(deadline)
        try:
            with until(deadline):
                yield
        finally:
            self._end_turn()

    def _begin_turn(self, deadline: float) -> None:
        if not self._running.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise DeadlineExceeded
        _has_turn.set(True)

    def _end_turn(self) -> None:
        _has_turn.set(False)
        self._running.release()
