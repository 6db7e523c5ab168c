"""Admission: how much is tagged at once, how much may wait for that, and for how long."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from service.api.problems import DEADLINE_EXCEEDED, OVERLOADED, Problem
from service.config import Settings

RETRY_AFTER = {"Retry-After": "1"}
_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


class DeadlineExceeded(Problem):
    """The work of a request is given up: nobody waits for the rest of it."""

    def __init__(self) -> None:
        detail = "the request took longer than TRELLIS_REQUEST_TIMEOUT_S; ask for less at once"
        super().__init__(DEADLINE_EXCEEDED, detail)


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
    """The places of a worker: so many run, so many wait, one more is refused at once.

    Probes, metrics and pages need none, and the server has threads for them beside these.
    """

    def __init__(self, settings: Settings) -> None:
        self._timeout_s = settings.request_timeout_s
        self._running = threading.Semaphore(settings.max_running)
        self._places = threading.Semaphore(settings.max_running + settings.max_waiting)
        self._streams = threading.Semaphore(settings.max_streams)

    @contextmanager
    def place(self) -> Iterator[None]:
        """Work in here. A thread that has a place already keeps that, and its deadline.

        Raises
        ------
        Problem
            All places are taken (503).
        DeadlineExceeded
            The time was over before it was this one's turn.
        """
        if _deadline.get() is not None:
            yield
            return
        if not self._places.acquire(blocking=False):
            detail = "as many requests as the service takes are waiting already"
            raise Problem(OVERLOADED, detail, headers=RETRY_AFTER)
        try:
            with self.turn():
                yield
        finally:
            self._places.release()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Work in here for a stream, which is never refused but waits: streams are few.

        Raises
        ------
        DeadlineExceeded
            The time was over before it was this one's turn.
        """
        token = _deadline.set(time.monotonic() + self._timeout_s)
        try:
            if not self._running.acquire(timeout=self._timeout_s):
                raise DeadlineExceeded
            try:
                yield
            finally:
                self._running.release()
        finally:
            _deadline.reset(token)

    def begin_stream(self) -> None:
        """Count a stream; `end_stream` must follow.

        Raises
        ------
        Problem
            There are as many as there may be (503).
        """
        if not self._streams.acquire(blocking=False):
            detail = "there are as many streams as TRELLIS_MAX_STREAMS already"
            raise Problem(OVERLOADED, detail, headers=RETRY_AFTER)

    def end_stream(self) -> None:
        """Let another stream begin."""
        self._streams.release()
