"""Logs: JSON on stdout, a line each. A request gets one line, what happens beside it others.

No line holds what a user sent, apart from the ids that come in headers for that purpose: not the
text, not the path, and of an exception its type and places, since its message may quote.
"""

import logging
import os
import traceback
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

import orjson

from service.api.monitoring.record import RequestRecord, current

_STDOUT = 1
_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE

GUNICORN_LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "service.api.monitoring.logs.JsonFormatter"}},
    "handlers": {
        "stdout": {
            "class": "logging.StreamHandler",
            "formatter": "json",
            "stream": "ext://sys.stdout",
        }
    },
    "root": {"level": "INFO", "handlers": ["stdout"]},
    "loggers": {"gunicorn.error": {"level": "INFO", "propagate": True, "handlers": []}},
}
"""gunicorn's logs and the service's own, in the form that `logging.config` takes."""


def log_request(record: RequestRecord) -> None:
    """Write the line of a request that has ended.

    At once, without `logging`, which would take ten times as long.
    """
    line: dict[str, object] = {
        "time": datetime.now(UTC),
        "level": "INFO" if record.status < 500 else "ERROR",
        "event": "request",
        "request_id": record.request_id,
        "method": record.method,
        "route": record.route,
        "status": record.status,
        "model": record.model,
        "documents": record.documents,
        "characters": record.characters,
        "tokens": record.tokens,
        "duration_ms": record.duration_ms,
    }
    if record.documents:
        line["stages_ms"] = record.stages_ms
    if record.problem:
        line["problem"] = record.problem
    if record.trace is not None:
        line |= _trace(record)
    try:
        os.write(_STDOUT, orjson.dumps(line, option=_OPTIONS))
    except OSError:
        return  # a log that nobody takes must not cost the answer


class JsonFormatter(logging.Formatter):
    """Formats what is logged beside requests."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, without the end of the line.

        Where there is an exception, the message is left as it stands in the code: what gunicorn
        would fill in is a URI.
        """
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname,
            "event": "log",
            "logger": record.name,
            "pid": record.process,
            "message": record.msg if record.exc_info else record.getMessage(),
        }
        if record.exc_info and record.exc_info[0] is not None:
            kind, _, trace = record.exc_info
            line |= {"exception": kind.__name__, "places": _places(trace)}
        if request_id := current().request_id:
            line |= {"request_id": request_id, **_trace(current())}
        return orjson.dumps(line, default=str, option=orjson.OPT_UTC_Z).decode()


def _trace(record: RequestRecord) -> dict[str, str]:
    if record.trace is None:
        return {}
    return {"trace_id": record.trace.trace_id, "span_id": record.trace.span_id}


def _places(trace: TracebackType | None) -> list[str]:
    return [f"{f.f_code.co_filename}:{line}" for f, line in traceback.walk_tb(trace)]
