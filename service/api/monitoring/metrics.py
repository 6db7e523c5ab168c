"""The metrics of the service: what is counted, and under which names.

Their labels are bounded: routes are the rules of the app, models those that are loaded, statuses
what the service answers. A request is counted once, at its end, in series that are looked up once.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from threading import Lock
from typing import NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from service.api.monitoring.record import STAGES, RequestRecord
from service.taggers.base import CachingTagger
from service.taggers.word_rows import UnseenWords

# As OpenTelemetry has them for http.server.request.duration.
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
_EXPECTED_STATUSES = (200, 422, 500, 503, 504)  # of which alerts and dashboards speak
_REASONS = ("waiting", "streams", "bodies")

REGISTRY = CollectorRegistry()
_requests = Counter(
    "trellis_requests",
    "Requests that were answered, by route, model (empty where none answered) and status.",
    ["route", "model", "status"],
    registry=REGISTRY,
)
_duration = Histogram(
    "trellis_request_duration_seconds",
    "Time from a request to its answer, without the time on the wire; of a stream with it.",
    ["route", "model"],
    buckets=_BUCKETS,
    registry=REGISTRY,
)
_stage_seconds = Counter(
    "trellis_stage_seconds",
    "Time that requests spent in each stage.",
    ["model", "stage"],
    registry=REGISTRY,
)
_documents = Counter("trellis_documents", "Documents tokenized.", ["model"], registry=REGISTRY)
_tokens = Counter("trellis_tokens", "Tokens of these documents.", ["model"], registry=REGISTRY)
_characters = Counter(
    "trellis_characters",
    "Characters (code points) of these documents.",
    ["model"],
    registry=REGISTRY,
)
_in_flight = Gauge(
    "trellis_requests_in_flight",
    "Requests that the app is answering, those of monitors left out.",
    multiprocess_mode="livesum",
    registry=REGISTRY,
)
_waiting = Gauge(
    "trellis_requests_waiting",
    "Requests that wait for a thread; told once a second.",
    multiprocess_mode="livesum",
    registry=REGISTRY,
)
_rejected = Counter(
    "trellis_requests_rejected",
    "Requests refused by 503 since as many waited as may (waiting), there were as many streams as "
    "may be (streams), or large bodies filled the memory for them (bodies).",
    ["reason"],
    registry=REGISTRY,
)
_unseen_words = Counter(
    "trellis_unseen_words",
    "Words outside of a model's vocabulary that were looked up, by whether they were kept (hit).",
    ["model", "outcome"],
    registry=REGISTRY,
)
_unseen_words_kept = Gauge(
    "trellis_unseen_words_kept",
    "Words outside of a model's vocabulary that are kept, those of all workers together.",
    ["model"],
    multiprocess_mode="livesum",
    registry=REGISTRY,
)
_worker_exits = Counter(
    "trellis_worker_exits",
    "Worker processes that ended, for whatever reason.",
    registry=REGISTRY,
)


class _OfModel(NamedTuple):
    documents: Counter
    tokens: Counter
    characters: Counter
    stage_seconds: Mapping[str, Counter]


@cache
def _of_model(model: str) -> _OfModel:
    return _OfModel(
        _documents.labels(model),
        _tokens.labels(model),
        _characters.labels(model),
        {stage: _stage_seconds.labels(model, stage) for stage in STAGES},
    )


@cache
def _of_status(route: str, model: str, status: int) -> Counter:
    return _requests.labels(route, model, str(status))


@cache
def _of_route(route: str, model: str) -> Histogram:
    return _duration.labels(route, model)


def announce(route: str, models: Iterable[str]) -> None:
    """Make the series that a route will have, so that they are there before its first request."""
    for model in models:
        for status in _EXPECTED_STATUSES:
            _of_status(route, model, status)
        _of_route(route, model)
        _of_model(model)
    for reason in _REASONS:
        _rejected.labels(reason)


def begin_request() -> None:
    """Count a request that is being answered; `end_request` must follow."""
    _in_flight.inc()


def end_request() -> None:
    """Count one less."""
    _in_flight.dec()


def count_request(record: RequestRecord) -> None:
    """Count a request that has ended."""
    _of_status(record.route, record.model, record.status).inc()
    _of_route(record.route, record.model).observe(record.duration_s)
    if record.documents:
        series = _of_model(record.model)
        series.documents.inc(record.documents)
        series.tokens.inc(record.tokens)
        series.characters.inc(record.characters)
        for stage, seconds in record.stage_s.items():
            series.stage_seconds[stage].inc(seconds)


def count_rejected(reason: str) -> None:
    """Count a request that is refused since there is no place for it."""
    _rejected.labels(reason).inc()


def tell_waiting(requests: int) -> None:
    """Say how many requests wait in this worker."""
    _waiting.set(requests)


def count_worker_exit() -> None:
    """Count a worker that has ended."""
    _worker_exits.inc()


def begin_worker() -> None:
    """Count in files of this process from here: it takes some milliseconds once."""
    _in_flight.set(0)


class UnseenWordUse:
    """Tells what a model's cache of unseen words has done since it was last asked.

    Parameters
    ----------
    model : the name of the model.
    tagger : its tagger.
    """

    def __init__(self, model: str, tagger: CachingTagger) -> None:
        self._tagger = tagger
        self._hits = _unseen_words.labels(model, "hit")
        self._misses = _unseen_words.labels(model, "miss")
        self._kept = _unseen_words_kept.labels(model)
        self._told = UnseenWords(0, 0, 0)
        self._lock = Lock()

    def tell(self) -> None:
        """Count what is new."""
        with self._lock:
            now = self._tagger.unseen_words
            told, self._told = self._told, now
        if now.hits != told.hits:
            self._hits.inc(now.hits - told.hits)
        if now.misses != told.misses:
            self._misses.inc(now.misses - told.misses)
        if now.kept != told.kept:
            self._kept.set(now.kept)
