"""Requests that wait for a thread: how many, for how long, and who takes them."""

import threading
import time
from contextlib import suppress
from queue import Empty, SimpleQueue

import pytest

from service.api.line import Line

TIMEOUT_S = 60
LATER = float("inf")


class Workplace:
    """A line whose work is to compute until a word; what is done is told in `finished`."""

    def __init__(self, threads: int, max_waiting: int, long_s: float = 0.02) -> None:
        self.begun: SimpleQueue[tuple[int, int]] = SimpleQueue()
        self.finished: SimpleQueue[int] = SimpleQueue()
        self.may_end = [threading.Event() for _ in range(10)]
        self.line: Line[int] = Line(
            self._work,
            self.finished.put,
            threads=threads,
            max_waiting=max_waiting,
            long_s=long_s,
        )

    def _work(self, one: int) -> None:
        self.begun.put((one, threading.get_ident()))
        end = time.monotonic() + TIMEOUT_S
        while not self.may_end[one].is_set() and time.monotonic() < end:
            pass

    def end(self) -> None:
        """Let all work end."""
        for event in self.may_end:
            event.set()

    def has_begun(self) -> tuple[int, int]:
        """The next that a thread has begun with, and the thread; relieves it meanwhile."""
        end = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end:
            self.line.relieve()
            with suppress(Empty):
                return self.begun.get(timeout=0.001)
        raise TimeoutError


def test_as_many_as_there_are_places() -> None:
    place = Workplace(threads=1, max_waiting=2)
    assert [place.line.join(one, LATER) for one in range(5)] == [True] * 3 + [False] * 2
    for one in range(3):
        place.may_end[one].set()
        assert place.finished.get(timeout=TIMEOUT_S) == one
    assert place.line.join(0, LATER)  # there is room again, also for the same one
    assert place.finished.get(timeout=TIMEOUT_S) == 0


def test_short_ones_have_one_thread() -> None:
    place = Workplace(threads=4, max_waiting=10)
    place.end()
    for one in range(10):
        place.line.join(one, LATER)
    assert [place.finished.get(timeout=TIMEOUT_S) for _ in range(10)] == list(range(10))
    assert len({place.begun.get()[1] for _ in range(10)}) == 1


@pytest.mark.parametrize("long_s", [0.02, 0])
def test_behind_a_long_one_the_next_thread_takes_over(long_s: float) -> None:
    place = Workplace(threads=3, max_waiting=10, long_s=long_s)
    for one in range(4):
        place.line.join(one, LATER)
    begun = [place.has_begun() for _ in range(3)]
    assert [one for one, _ in begun] == [0, 1, 2]
    assert len({thread for _, thread in begun}) == 3
    assert place.line.relieve() < 1  # there is no thread for the last, but there will be
    place.may_end[1].set()
    assert place.has_begun() == (3, begun[1][1])
    place.end()


@pytest.mark.parametrize("wait_s", [0, 0.1])
def test_nobody_is_relieved_where_nobody_waits(wait_s: float) -> None:
    place = Workplace(threads=2, max_waiting=0)
    assert place.line.relieve() == float("inf")
    place.line.join(0, LATER)
    place.begun.get(timeout=TIMEOUT_S)
    time.sleep(wait_s)
    assert place.line.relieve() == float("inf")
    place.end()


def test_what_waits_too_long_leaves_the_line() -> None:
    place = Workplace(threads=1, max_waiting=3)
    now = time.monotonic()
    place.line.join(0, now - 1)
    place.begun.get(timeout=TIMEOUT_S)
    for one, deadline in ((1, now - 1), (2, LATER), (3, now - 1)):
        assert place.line.join(one, deadline)
    assert place.line.overdue() == [1, 3]  # not the one that is worked on
    assert place.line.overdue() == []
    assert [place.line.join(one, LATER) for one in (4, 5, 6)] == [True, True, False]
    place.end()
    assert [place.finished.get(timeout=TIMEOUT_S) for _ in range(4)] == [0, 2, 4, 5]
