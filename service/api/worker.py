"""gunicorn's threaded worker: what we need of it and it lacks.

This, `connection` and `arrival` are all that knows gunicorn's internals.

- *No thread waits for a client.* gthread reads and lingers in its few threads and in its main loop,
  so a hundred clients that send half a request stop everybody. Here the main loop's poller waits: a
  connection goes to a thread when its request has arrived in whole. Head and body have
  `client_timeout_s` to do so, all together, else the answer is 408. A connection that ends lingers
  in the poller as well. A body of a stream is read by its thread, which the app limits.
- *Bodies that are waiting are held in memory, up to a bound.* It is that of the requests that
  run if each had the largest body; over it a request is refused by 503, unless it is small.
- *gunicorn's own errors are problems too*: not HTML, no user's text. These are of requests that
  never become one: a request line over the limit, a broken header. gunicorn would quote them in
  its answer and its log.
- *A body can be read as it arrives.* gunicorn's own waits for a kilobyte at least, also where the
  client waits for an answer.
- *A stop answers what has come.* Connections that the kernel has taken, but not we, are not reset.
"""

import contextlib
import logging
import selectors
import socket
import time
from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import Any

from gunicorn.http import errors  # type: ignore[import-untyped]
from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

from service.api.admission import RETRY_AFTER
from service.api.arrival import ArrivingBody
from service.api.connection import Connection
from service.api.problems import (
    MALFORMED_REQUEST,
    OVERLOADED,
    REQUEST_TIMEOUT,
    UNSUPPORTED_TRANSFER_CODING,
    Kind,
    Problem,
    problem_of,
)
from service.config import load_settings

URI_TOO_LONG = Kind("uri-too-long", 414, "URI too long")
HEADERS_TOO_LARGE = Kind("headers-too-large", 431, "Request header fields too large")
_RECEIVED_BYTES = 2**16
_LINGER_S = 2.0  # as gunicorn
_log = logging.getLogger(__name__)


def limit_stalls(environ: Mapping[str, Any], timeout_s: float) -> None:
    """Give up the client of this request where it neither sends nor takes for `timeout_s`.

    A read raises `TimeoutError` then, and so does a write that is not taken as a whole.
    """
    connection: socket.socket | None = environ.get("gunicorn.socket")
    if connection is not None:  # another server, such as the one of the tests, has none
        connection.settimeout(timeout_s)


class ProblemWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A `ThreadWorker` that waits for clients in its poller, and answers with problems."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._settings = load_settings()
        self._lingering: deque[Connection] = deque()
        self._held_bytes = 0
        self._max_held_bytes = self._settings.max_body_bytes * self._settings.max_running

    def accept(self, listener: socket.socket) -> bool:
        """Take a new connection, and wait for its request; say whether there was one."""
        try:
            client, address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return False
        self.nr_conns += 1
        self._await(Connection(self.cfg, client, address, listener.getsockname()))
        return True

    def on_client_socket_readable(self, conn: Connection, client: socket.socket) -> None:
        """Wait for the next request of a kept-alive connection, which has begun to arrive."""
        self.poller.unregister(client)
        self.keepalived_conns.remove(conn)
        self._await(conn)

    def on_pending_socket_readable(self, conn: Connection, client: socket.socket) -> None:
        """Take over what has arrived of a request, and hand the request to a thread when whole."""
        try:
            data = client.recv(_RECEIVED_BYTES)
        except BlockingIOError:
            return
        except OSError:
            self._forget(conn)
            self._drop(conn)
            return
        if data:
            conn.add(data)
            self._advance(conn)
            return
        self._forget(conn)
        if conn.end():
            self.enqueue_req(conn)
        else:
            self._drop(conn)

    def finish_request(self, conn: Connection, fs: Any) -> None:
        """Wait for what comes after a request that a thread is done with."""
        self._hold(conn, 0)
        if fs.cancelled() or fs.exception() or not fs.result():
            self._linger(conn)
        elif conn.has_begun:
            self._await(conn)
            self._advance(conn)
        else:
            super().finish_request(conn, fs)

    def murder_pending(self) -> None:
        """Refuse requests that have not arrived in time, and end what has lingered long enough."""
        now = time.monotonic()
        for conn in [each for each in self.pending_conns if each.timeout <= now]:
            if conn.has_begun:
                detail = "the request did not arrive within TRELLIS_CLIENT_TIMEOUT_S"
                self._refuse(conn, Problem(REQUEST_TIMEOUT, detail))
            else:
                self._forget(conn)
                self._drop(conn)
        for conn in [each for each in self._lingering if each.timeout <= now]:
            self._end(conn)

    def set_accept_enabled(self, enabled: bool) -> None:
        """Take connections or not; those that came before a stop are taken."""
        super().set_accept_enabled(enabled)
        if self.alive:
            return
        for listener in self.sockets:
            while self.accept(listener):
                pass
            listener.close()  # what comes now is refused, and may go elsewhere

    def handle_request(self, req: Any, conn: Connection) -> bool:
        """Answer a request; of one whose client takes nothing more, drop the connection."""
        if req.is_streamed:
            req.body = ArrivingBody(req, conn.sock)
        conn.sock.settimeout(self._settings.client_timeout_s)
        try:
            return bool(super().handle_request(req, conn))
        except TimeoutError:
            _log.info("gave up a client that takes nothing")
            return False

    def _cap_keepalive(self, deadline: float) -> None:
        """Close connections that are idle by `deadline`: the worker stops."""
        super()._cap_keepalive(deadline)
        for conn in self.pending_conns:
            if not conn.has_begun:
                conn.timeout = min(conn.timeout, deadline)

    def _keepalive_after(self, conn: object, keepalive: bool) -> bool:
        """Whether another request may follow; what is unread of this one is no longer there."""
        return keepalive

    def handle_error(
        self, req: object, client: socket.socket, addr: object, exc: Exception
    ) -> None:
        """Answer a request that could not be handed to the app, and close the connection."""
        response = _problem(exc).response()
        response.headers["Connection"] = "close"
        head = f"HTTP/1.1 {response.status}\r\n{response.headers}"
        with contextlib.suppress(OSError):  # the client has gone
            client.sendall(head.encode("latin-1") + response.get_data())

    def _await(self, conn: Connection) -> None:
        """Have the poller wait for a request."""
        conn.sock.setblocking(False)
        patience_s = self._settings.client_timeout_s if self.alive else _LINGER_S
        conn.timeout = time.monotonic() + patience_s
        self.pending_conns.append(conn)
        ready = partial(self.on_pending_socket_readable, conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, ready)

    def _advance(self, conn: Connection) -> None:
        """Hand a request to a thread where it is whole, and refuse it where it will not be."""
        try:
            if conn.is_ready(self._settings.max_body_bytes):
                self._forget(conn)
                self.enqueue_req(conn)
            elif self._held_bytes + conn.large_bytes - conn.held_bytes > self._max_held_bytes:
                detail = "the bodies of other requests fill the memory that there is for them"
                raise Problem(OVERLOADED, detail, headers=RETRY_AFTER)
        except Exception as error:
            self._refuse(conn, error)
        else:
            self._hold(conn, conn.large_bytes)

    def _hold(self, conn: Connection, size: int) -> None:
        self._held_bytes += size - conn.held_bytes
        conn.held_bytes = size

    def _forget(self, conn: Connection) -> None:
        """Wait no longer for a request."""
        self.poller.unregister(conn.sock)
        self.pending_conns.remove(conn)

    def _refuse(self, conn: Connection, error: Exception) -> None:
        self._forget(conn)
        self.handle_error(None, conn.sock, conn.client, error)
        self._linger(conn)

    def _linger(self, conn: Connection) -> None:
        """End a connection when its client does: else it would lose the end of its answer.

        What it is still sending is read and forgotten, as long as a request may take.
        """
        self._hold(conn, 0)
        try:
            conn.sock.setblocking(False)
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._drop(conn)
            return
        conn.timeout = time.monotonic() + _LINGER_S
        self._lingering.append(conn)
        end = time.monotonic() + self._settings.client_timeout_s
        ready = partial(self._discard, conn, end)
        self.poller.register(conn.sock, selectors.EVENT_READ, ready)

    def _discard(self, conn: Connection, end: float, client: socket.socket) -> None:
        try:
            data = client.recv(_RECEIVED_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._end(conn)
        elif self.alive:
            conn.timeout = min(time.monotonic() + _LINGER_S, end)

    def _end(self, conn: Connection) -> None:
        self.poller.unregister(conn.sock)
        self._lingering.remove(conn)
        self._drop(conn)

    def _drop(self, conn: Connection) -> None:
        self.nr_conns -= 1
        conn.close()


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
