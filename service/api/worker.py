"""gunicorn's threaded worker, whose own errors are problems too: not HTML, no user's text.

These are of requests that never become one: a request line over the limit, a broken header.
gunicorn would quote them in its answer and its log.
"""

import contextlib
import logging
import socket

from gunicorn.http import errors  # type: ignore[import-untyped]
from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

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


class ProblemWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A `ThreadWorker` that answers with `application/problem+json`."""

    def _keepalive_after(self, conn: object, keepalive: bool) -> bool:
        """Close a connection whose unread body is broken: its request has been answered."""
        try:
            return bool(super()._keepalive_after(conn, keepalive))
        except errors.ParseException:
            return False

    def handle_error(
        self, req: object, client: socket.socket, addr: object, exc: Exception
    ) -> None:
        """Answer a request that could not be handed to the app, and close the connection."""
        response = _problem(exc).response()
        response.headers["Connection"] = "close"
        head = f"HTTP/1.1 {response.status}\r\n{response.headers}"
        with contextlib.suppress(OSError):  # the client has gone
            client.sendall(head.encode("latin-1") + response.get_data())


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
