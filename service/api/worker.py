"""gunicorn's threaded worker: what we need of it and it lacks. Nothing else knows its internals.

- Its own errors are problems too: not HTML, no user's text. These are of requests that never
  become one: a request line over the limit, a broken header. gunicorn would quote them in its
  answer and its log.
- A body can be read as it arrives. gunicorn's own waits for a kilobyte at least, also where the
  client waits for an answer.
- A client that stalls is given up, where the app says how long it may.
"""

import contextlib
import io
import logging
import socket
import ssl
from collections.abc import Mapping
from typing import Any

from gunicorn.http import errors  # type: ignore[import-untyped]
from gunicorn.http.body import Body, ChunkedReader  # type: ignore[import-untyped]
from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

from service.api.problems import (
    MALFORMED_REQUEST,
    UNSUPPORTED_TRANSFER_CODING,
    Kind,
    Problem,
    problem_of,
)

URI_TOO_LONG = Kind("uri-too-long", 414, "URI too long")
_RECEIVED_BYTES = 8192  # as gunicorn takes where it cannot know how much comes
HEADERS_TOO_LARGE = Kind("headers-too-large", 431, "Request header fields too large")
_log = logging.getLogger(__name__)


def limit_stalls(environ: Mapping[str, Any], timeout_s: float) -> None:
    """Give up the client of this request where it neither sends nor takes for `timeout_s`.

    A read raises `TimeoutError` then, and so does a write that is not taken as a whole. The next
    request of the connection is not limited.
    """
    connection: socket.socket | None = environ.get("gunicorn.socket")
    if connection is not None:  # another server, such as the one of the tests, has none
        connection.settimeout(timeout_s)


class ProblemWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A `ThreadWorker` that answers with `application/problem+json`."""

    def handle_request(self, req: Any, conn: Any) -> bool:
        """Answer a request; of one whose client takes nothing more, drop the connection."""
        req.body = ArrivingBody(req, conn.sock)
        try:
            return bool(super().handle_request(req, conn))
        except TimeoutError:
            _log.info("gave up a client that takes nothing")
            conn.sock.close()  # at once: gunicorn would linger, and keep all others waiting
            return False

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


class ArrivingBody(Body):  # type: ignore[misc]
    """A body that has `read1`, as a buffered file has: what has arrived, without waiting for more.

    Parameters
    ----------
    request : gunicorn's request, of whose body nothing has been read.
    connection : where it comes from.
    """

    def __init__(self, request: Any, connection: socket.socket) -> None:
        reader = request.body.reader
        self._is_chunked = isinstance(reader, ChunkedReader)
        if self._is_chunked:
            reader = ChunkedReader(request, _LineUnreader(request.unreader))
        super().__init__(reader)
        self._unreader = request.unreader
        self._connection = connection

    def read1(self, size: int, /) -> bytes:
        """Read at most `size` bytes, and at least one unless the body has ended."""
        pieces = [self._arrived(size)]
        left = size - len(pieces[0])
        while pieces[-1] and left > 0 and self._is_chunked and self._has_next_chunk():
            pieces.append(self._arrived(left))
            left -= len(pieces[-1])
        return b"".join(pieces)

    def _arrived(self, size: int) -> bytes:
        """The rest of a chunk, or of what came with it; waits for the first byte of it."""
        first = self._read_reader(1)
        held = self.reader.buf if self._is_chunked else self._unreader.buf
        rest = min(size - 1, held.tell())
        return bytes(first + self._read_reader(rest)) if first else b""

    def _has_next_chunk(self) -> bool:
        """Whether the chunk after this one has begun to arrive: reading it waits for nothing."""
        return self._holds_chunk() or (self._receive() and self._holds_chunk())

    def _holds_chunk(self) -> bool:
        """Whether there are the end of a chunk, the head of the next and a byte of it."""
        *lines, beginning = self._unreader.buf.getvalue().split(b"\n", 2)
        return len(lines) == 2 and bool(beginning)

    def _receive(self) -> bool:
        """Take over what the connection holds, and say whether that is anything."""
        timeout_s = self._connection.gettimeout()
        self._connection.settimeout(0)
        try:
            data = self._connection.recv(_RECEIVED_BYTES)
        except (BlockingIOError, ssl.SSLWantReadError):
            return False
        finally:
            self._connection.settimeout(timeout_s)
        self._unreader.buf.seek(0, io.SEEK_END)
        self._unreader.buf.write(data)
        return bool(data)


class _LineUnreader:
    """Hands gunicorn's parser of chunks no more than it asks for, so that one sees what is left.

    Given more, it keeps that to itself, and asks for more before it hands it out.
    """

    def __init__(self, unreader: Any) -> None:
        self._unreader = unreader

    def read(self, size: None = None, read_ahead: int | None = None) -> bytes:
        """Read up to `read_ahead` bytes, or else to the end of a line."""
        data: bytes = self._unreader.read(size, read_ahead)
        end = read_ahead or data.find(b"\n") + 1 or len(data)
        if end < len(data):
            self.unread(data[end:])
        return data[:end]

    def unread(self, data: bytes) -> None:
        """Give back what was not needed."""
        self._unreader.unread(data)


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
