"""The metrics of the service: what is counted, and under which names.

Their labels are bounded: routes are the rules of the app, models those that are loaded, statuses
what the service answers. A request is counted once, at its end, in series that are looked up once.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cache
from threading import Lock
from typing import NamedTuple

from service.api.monitoring.counts import COUNTER, GAUGE, HISTOGRAM, Metric, Series, add, put
from service.api.monitoring.record import STAGES, RequestRecord
from service.taggers.base import CachingTagger
from service.taggers.word_rows import UnseenWords

# As OpenTelemetry has them for http.server.request.duration.
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, math.inf)
_EXPECTED_STATUSES = (200, 422, 500, 503, 504)  # of which alerts and dashboards speak
_REASONS = ("waiting", "streams", "bodies")

_requests = Metric(
    COUNTER,
    "trellis_requests",
    "Requests that were answered, by route, model (empty where none answered) and status.",
    ("route", "model", "status"),
)
_duration = Metric(
    HISTOGRAM,
    "trellis_request_duration_seconds",
    "Time from a request to its answer, without the time on the wire; of a stream with it.",
    ("route", "model"),
)
_stage_seconds = Metric(
    COUNTER,
    "trellis_stage_seconds",
    "Time that requests spent in each stage.",
    ("model", "stage"),
)
_documents = Metric(COUNTER, "trellis_documents", "Documents tokenized.", ("model",))
_tokens = Metric(COUNTER, "trellis_tokens", "Tokens of these documents.", ("model",))
_characters = Metric(
    COUNTER,
    "trellis_characters",
    "Characters (code points) of these documents.",
    ("model",),
)
_in_flight = Metric(
    GAUGE,
    "trellis_requests_in_flight",
    "Requests that the app is answering, those of monitors left out.",
).series()
_waiting = Metric(
    GAUGE,
    "trellis_requests_waiting",
    "Requests that wait for a thread; told once a second.",
).series()
_rejected = Metric(
    COUNTER,
    "trellis_requests_rejected",
    "Requests refused by 503 since as many waited as may (waiting), there were as many streams as "
    "may be (streams), or large bodies filled the memory for them (bodies).",
    ("reason",),
)
_unseen_words = Metric(
    COUNTER,
    "trellis_unseen_words",
    "Words outside of a model's table that were looked up, by whether they were kept (hit).",
    ("model", "outcome"),
)
_unseen_words_kept = Metric(
    GAUGE,
    "trellis_unseen_words_kept",
    "Words outside of a model's table that are kept, those of all workers together.",
    ("model",),
)
_worker_exits = Metric(
    COUNTER,
    "trellis_worker_exits",
    "Worker processes that ended, for whatever reason.",
).series()


class _OfRequests(NamedTuple):
    """The series in which requests of one route, model and status are counted."""

    requests: Series
    seconds: Series
    buckets: Sequence[Series]
    work: Sequence[Series]
    """Of documents, tokens, characters, and the time of each of `STAGES`."""


@cache
def _of_requests(route: str, model: str, status: int) -> _OfRequests:
    return _OfRequests(
        _requests.series(route, model, str(status)),
        _duration.sum_series(route, model),
        _duration.bucket_series(_BUCKETS, route, model),
        (
            *(each.series(model) for each in (_documents, _tokens, _characters)),
            *(_stage_seconds.series(model, stage) for stage in STAGES),
        ),
    )


def announce(route: str, models: Iterable[str]) -> None:
    """Make the series that a route will have, so that they are there before its first request."""
    series = [_in_flight, _waiting, _worker_exits, *map(_rejected.series, _REASONS)]
    for model in models:
        for status in _EXPECTED_STATUSES:
            requests, seconds, buckets, work = _of_requests(route, model, status)
            series += (requests, seconds, *buckets, *work)
    add((each, 0) for each in series)


def begin_request() -> None:
    """Count a request that is being answered; `count_request` must follow."""
    add([(_in_flight, 1)])


def count_request(
    record: RequestRecord, *, was_in_flight: bool = False, cache: "UnseenWordUse | None" = None
) -> None:
    """Count a request that has ended.

    Parameters
    ----------
    record : what is known of it.
    was_in_flight : whether `begin_request` has counted it.
    cache : that of the model, where it has one.
    """
    requests, seconds, buckets, work = _of_requests(record.route, record.model, record.status)
    bucket = buckets[bisect_left(_BUCKETS, record.duration_s)]
    amounts: list[tuple[Series, float]]
    amounts = [(requests, 1), (seconds, record.duration_s), (bucket, 1)]
    if not bucket.place:  # none is there before all are
        amounts += ((each, 0) for each in buckets)
    if record.documents:
        done = (record.documents, record.tokens, record.characters, *record.stage_s.values())
        amounts += zip(work, done, strict=True)
    if was_in_flight:
        amounts.append((_in_flight, -1))
    if cache is not None:
        amounts += cache.news()
    add(amounts)


def count_rejected(reason: str) -> None:
    """Count a request that is refused since there is no place for it."""
    add([(_rejected.series(reason), 1)])


def tell_waiting(requests: int) -> None:
    """Say how many requests wait in this worker."""
    put(_waiting, requests)


def count_worker_exit() -> None:
    """Count a worker that has ended."""
    add([(_worker_exits, 1)])


class UnseenWordUse:
    """Tells what a model's cache of unseen words has done since it was last asked.

    Parameters
    ----------
    model : the name of the model.
    tagger : its tagger.
    """

    def __init__(self, model: str, tagger: CachingTagger) -> None:
        self._tagger = tagger
        self._hits = _unseen_words.series(model, "hit")
        self._misses = _unseen_words.series(model, "miss")
        self._kept = _unseen_words_kept.series(model)
        self._told = UnseenWords(0, 0, 0)
        self._lock = Lock()
        add((each, 0) for each in (self._hits, self._misses, self._kept))

    def news(self) -> list[tuple[Series, float]]:
        """What is to be added to which series."""
        with self._lock:
            now = self._tagger.unseen_words
            told, self._told = self._told, now
        if now == told:
            return []
        series = (self._hits, self._misses, self._kept)
        return [(each, new - old) for each, new, old in zip(series, now, told, strict=True)]
