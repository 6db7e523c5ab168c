"""What is known of a request while it runs: written along its path, read once at its end."""

from contextvars import ContextVar
from time import monotonic, perf_counter
from typing import Any

from service.api.monitoring.trace_context import TraceContext

STAGES = ("tokenize", "score", "decode", "serialise")
"""The steps of a request whose time is taken, in order."""

NO_ROUTE = "none"
"""The route of a request that no rule matches, or that never reached the app."""


class RequestRecord:
    """One request: who asked for what, and how long which step took.

    Time is taken as laps: each ends where the next begins, so a step costs one look at the clock.

    Parameters
    ----------
    request_id : the id of the request.
    trace : this service's place in a trace; None outside of one.

    Attributes
    ----------
    began : when it had arrived, as of `time.monotonic`.
    method, route, status : of HTTP; the route is the rule that matches, not the path.
    model : the name of the loaded model that answers; empty where none does.
    documents, tokens, characters : what was tokenized.
    problem : the kind of problem that is the answer; empty where it is none.
    duration_s : from the request to its answer.
    span : that of OpenTelemetry, where tracing is on.
    stage_s : seconds of each of `STAGES`.
    """

    __slots__ = (
        "_lap",
        "began",
        "characters",
        "documents",
        "duration_s",
        "method",
        "model",
        "problem",
        "request_id",
        "route",
        "span",
        "stage_s",
        "status",
        "tokens",
        "trace",
    )

    def __init__(self, request_id: str = "", trace: TraceContext | None = None) -> None:
        self.request_id = request_id
        self.trace = trace
        self.span: Any = None  # its types are in an extra
        self.method = ""
        self.route = NO_ROUTE
        self.status = 0
        self.model = ""
        self.documents = self.tokens = self.characters = 0
        self.problem = ""
        self.duration_s = 0.0
        self.stage_s = dict.fromkeys(STAGES, 0.0)
        self.began = monotonic()
        self._lap: float | None = None

    def begin_lap(self) -> None:
        """Take time from here: what was before, such as waiting, belongs to no stage."""
        self._lap = perf_counter()

    def lap(self, stage: str) -> None:
        """Count the time since the last lap as that of a stage."""
        now = perf_counter()
        if self._lap is not None:
            self.stage_s[stage] += now - self._lap
        self._lap = now

    def end_laps(self, stage: str) -> None:
        """Count the last lap, where one was begun, and take no more time."""
        if self._lap is not None:
            self.lap(stage)
            self._lap = None

    @property
    def stages_ms(self) -> dict[str, float]:
        """Milliseconds of each of `STAGES`, to the microsecond."""
        return {stage: _ms(seconds) for stage, seconds in self.stage_s.items()}

    @property
    def duration_ms(self) -> float:
        """Milliseconds of the whole, to the microsecond."""
        return _ms(self.duration_s)

    def end(self, status: int) -> None:
        """Take the time of the whole."""
        self.status = status
        self.duration_s = monotonic() - self.began


def _ms(seconds: float) -> float:
    """Milliseconds, to the microsecond: what `round` says, in a fourth of its time."""
    return int(seconds * 1e6 + 0.5) / 1e3


_current: ContextVar[RequestRecord | None] = ContextVar("request_record", default=None)


def begin(record: RequestRecord) -> None:
    """Make it that of the request which this thread works for, until the next begins."""
    _current.set(record)


def current() -> RequestRecord:
    """The record of the request that this thread works for; outside of one, a new one."""
    return _current.get() or RequestRecord()
