"""Answers to requests that never reach the app; part of `worker`.

gunicorn's own are HTML, and would quote the request, as its log would.
"""

import logging
from collections.abc import Mapping

from gunicorn.http import errors  # type: ignore[import-untyped]

from service.api.monitoring.monitor import refused
from service.api.problems import (
    MALFORMED_REQUEST,
    UNSUPPORTED_TRANSFER_CODING,
    Kind,
    Problem,
    problem_of,
)

URI_TOO_LONG = Kind("uri-too-long", 414, "URI too long")
HEADERS_TOO_LARGE = Kind("headers-too-large", 431, "Request header fields too large")
_log = logging.getLogger(__name__)


def refusal(error: Exception, headers: Mapping[str, str], *, keeps: bool) -> bytes:
    """The answer, head and body, to a request that failed, which is counted and logged.

    Parameters
    ----------
    error : why it failed.
    headers : those that came, in capitals; none where they did not come in whole.
    keeps : whether the connection goes on.
    """
    response = refused(_problem(error), headers)
    response.headers["Connection"] = "keep-alive" if keeps else "close"
    head = f"HTTP/1.1 {response.status}\r\n{response.headers}"
    return head.encode("latin-1") + response.get_data()


def _problem(error: Exception) -> Problem:
    match error:
        case errors.LimitRequestLine(max_size=limit):
            detail = f"the request line is over the limit of {limit} bytes; POST the text instead"
            return Problem(URI_TOO_LONG, detail, limit=limit)
        case errors.LimitRequestHeaders():
            return Problem(HEADERS_TOO_LARGE, "the headers are over the limit of the server")
        case errors.UnsupportedTransferCoding():
            return Problem(UNSUPPORTED_TRANSFER_CODING, "a body is sent as it is, or chunked")
        case errors.ParseException():
            _log.info("refused a request: %s", type(error).__name__)
            return Problem(MALFORMED_REQUEST, "this is no request of HTTP/1.1")
        case _:
            return problem_of(error)
