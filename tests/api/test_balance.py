"""A worker that has more connections than another waits a moment before it takes one more."""

from collections.abc import Iterator

import pytest

from service.api import balance

ONE, OTHER = 5, 6


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    found: list[float] = []
    monkeypatch.setattr("time.sleep", found.append)
    yield found
    for worker in (ONE, OTHER):
        balance.leave(worker)


@pytest.mark.parametrize(
    ("mine", "others", "is_ahead"), [(0, 0, False), (1, 0, True), (0, 1, False), (4, 4, False)]
)
def test_it_waits_where_it_is_ahead(
    waits: list[float], mine: int, others: int, is_ahead: bool
) -> None:
    balance.say(ONE, mine)
    balance.say(OTHER, others)
    balance.let_others_first(ONE)
    assert bool(waits) == is_ahead


def test_not_for_one_that_takes_no_more(waits: list[float]) -> None:
    balance.say(ONE, 3)
    balance.say(OTHER, 0)
    balance.leave(OTHER)
    balance.let_others_first(ONE)
    balance.leave(ONE)
    balance.let_others_first(ONE)
    assert not waits
