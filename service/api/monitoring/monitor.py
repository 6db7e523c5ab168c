"""Each request of the app is counted, logged and, where that is on, traced, once, at its end.

An answer that is there as a whole has ended when it is handed to the server: who has got an answer
is counted, and a slow client makes no slow request. A stream has ended when it is closed.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from flask import Blueprint, Flask, Response
from flask.globals import request_ctx

from service.api.admission import current_deadline
from service.api.monitoring import metrics
from service.api.monitoring.exposition import MEDIA_TYPE, Exposition
from service.api.monitoring.logs import log_request
from service.api.monitoring.record import STAGES, RequestRecord, begin, current
from service.api.monitoring.trace_context import (
    REQUEST_ID,
    SERVER_TIMING,
    continued,
    parsed,
    request_id,
)
from service.api.problems import Problem
from service.config import Settings
from service.errors import SettingError
from service.store.registry import Registry
from service.taggers.base import CachingTagger

if TYPE_CHECKING:
    from service.api.monitoring.tracing import Tracing

_STAGES_MS = ", ".join(f"{stage};dur=%.3f" for stage in STAGES)
_PROBES = frozenset(("/livez", "/readyz", "/health", "/metrics"))


class Monitor:
    """Follows the requests of an app.

    Parameters
    ----------
    settings : `request_timeout_s`, `log_requests` and `tracing`.
    registry : the models that are loaded.

    Raises
    ------
    SettingError
        Where tracing is on, and what it needs is not installed.
    """

    def __init__(self, settings: Settings, registry: Registry) -> None:
        self._timeout_s = settings.request_timeout_s
        self._logs_requests = settings.log_requests
        self._tracing = _tracing() if settings.tracing else None
        self._caches = {
            name: metrics.UnseenWordUse(name, model.tagger)
            for name, model in registry.loaded.items()
            if isinstance(model.tagger, CachingTagger)
        }

    def begin(self) -> None:
        """Begin a request; before everything else that is done for it."""
        request = request_ctx.request  # itself, not the proxy, which is slower to look into
        environ = request.environ
        record = _record(environ.get("HTTP_X_REQUEST_ID"), environ.get("HTTP_TRACEPARENT"))
        if (deadline := current_deadline()) is not None:  # it may have waited for a thread
            record.began = deadline - self._timeout_s
        record.method = request.method
        if request.url_rule is not None:
            record.route = request.url_rule.rule
        begin(record)
        if record.route in _PROBES:
            return
        if self._tracing is not None:
            headers = {name.lower(): value for name, value in request.headers}
            self._tracing.begin(record, headers)
        metrics.begin_request()

    def end(self, response: Response) -> Response:
        """End a request, or have it end with its stream; after everything else."""
        record = current()
        record.end_laps("serialise")
        response.headers.add(REQUEST_ID, record.request_id)
        if timing := _server_timing(record):
            response.headers.add(SERVER_TIMING, timing)
        if response.is_streamed:
            response.call_on_close(lambda: self._finish(record, response.status_code))
        else:
            self._finish(record, response.status_code)
        return response

    def _finish(self, record: RequestRecord, status: int) -> None:
        record.end(status)
        is_probe = record.route in _PROBES
        cache = self._caches.get(record.model)
        metrics.count_request(record, was_in_flight=not is_probe, cache=cache)
        if is_probe:
            return
        if self._tracing is not None:
            self._tracing.end(record)
        if self._logs_requests:
            log_request(record)


def monitor(app: Flask, settings: Settings, registry: Registry) -> None:
    """Follow the requests of an app, which has to have no other hooks yet, and serve `/metrics`."""
    followed = Monitor(settings, registry)
    app.before_request(followed.begin)
    app.after_request(followed.end)
    exposition = Exposition(registry)
    routes = Blueprint("metrics", __name__)

    @routes.get("/metrics")
    def metrics_() -> Response:
        return Response(exposition.text(), content_type=MEDIA_TYPE)

    app.register_blueprint(routes)


def announce(app: Flask, registry: Registry) -> None:
    """Make the series of an app that has all its routes, so that they begin at zero."""
    of_task: dict[str, list[str]] = {"tag": [], "ner": []}
    for name, model in registry.loaded.items():
        of_task[model.manifest.task].append(name)
    for rule in app.url_map.iter_rules():
        if "POST" in (rule.methods or ()):
            metrics.announce(rule.rule, of_task["tag" if rule.rule.startswith("/tag") else "ner"])


def refused(problem: Problem, headers: Mapping[str, str]) -> Response:
    """The answer of a request that never reached the app, which is counted and logged as well.

    Parameters
    ----------
    problem : what is wrong with it.
    headers : those that came, in capitals; none where they did not come in whole.
    """
    record = _record(headers.get("X-REQUEST-ID"), headers.get("TRACEPARENT"))
    record.problem = problem.kind.name
    record.end(problem.kind.status)
    metrics.count_request(record)
    log_request(record)
    response = problem.response()
    response.headers[REQUEST_ID] = record.request_id
    return response


def _tracing() -> "Tracing":
    try:
        from service.api.monitoring.tracing import Tracing
    except ImportError as error:
        detail = "opentelemetry is not installed; it is in the extra tracing"
        raise SettingError("TRELLIS_TRACING", detail) from error
    return Tracing()


def _record(given_id: str | None, traceparent: str | None) -> RequestRecord:
    caller = parsed(traceparent) if traceparent else None
    return RequestRecord(request_id(given_id), continued(caller) if caller else None)


def _server_timing(record: RequestRecord) -> str:
    """The stages, and where the answer stands in the trace, which browsers cannot know else."""
    parts = []
    if record.documents:
        parts = [_STAGES_MS % tuple([1e3 * seconds for seconds in record.stage_s.values()])]
    if record.trace is not None:
        parts.append(f'traceparent;desc="{record.trace.header}"')
    return ", ".join(parts)
