"""Requests and answers, on all connections of a worker; part of `worker`."""

import logging
import math
import selectors
import socket
import time
from functools import partial
from typing import Any

from service.api.admission import RETRY_AFTER, DeadlineExceeded, until
from service.api.connection import Connection
from service.api.line import Line
from service.api.monitoring.metrics import count_rejected, tell_waiting
from service.api.problems import OVERLOADED, REQUEST_TIMEOUT, Problem
from service.api.refusal import refusal
from service.config import Settings

_NEXT_BYTES = 2**16  # of requests that come before the answer to the one before
_PIECE_BYTES = 2**16  # a client has to take this much of an answer within the time limit
_HURRIED_S = 1.0  # for such a piece, where memory is short
_LINGER_S = 2.0  # as gunicorn
_LONG_S = 0.02  # a batch of some hundred sentences
_PAGE_THREADS = 2
_log = logging.getLogger(__name__)


class Exchanges:
    """What happens on the connections of a worker. Starts the threads that answer.

    The thread of the poller has all methods but `_answer` and `_answered`.

    Parameters
    ----------
    worker : gunicorn's, with its poller, and its queue of what threads leave to that.
    settings : how many threads there are, and how much waits for how long.
    """

    def __init__(self, worker: Any, settings: Settings) -> None:
        self._worker = worker
        self._settings = settings
        self._connections: set[Connection] = set()
        self._delivering: set[Connection] = set()
        self._held_bytes = 0
        self._waiting = 0  # as was last told
        self._max_held_bytes = settings.max_body_bytes * settings.max_running
        line = partial(Line[Connection], self._answer, self._answered)
        self._work = line(
            threads=settings.max_running, max_waiting=settings.max_waiting, long_s=_LONG_S
        )
        self._streams = line(threads=settings.max_streams, max_waiting=0, long_s=0)
        self._pages = line(threads=_PAGE_THREADS, max_waiting=worker.worker_connections, long_s=0)

    def __len__(self) -> int:
        return len(self._connections)

    def begin(self, wire: socket.socket, client: Any, server: Any) -> None:
        """Wait for the first request of a new connection between these addresses."""
        conn = Connection(self._worker.cfg, wire, client, server)
        conn.ready, conn.expire = self._receive, self._give_up_arrival
        conn.timeout = time.monotonic() + self._settings.client_timeout_s
        self._connections.add(conn)
        self._watch(conn, selectors.EVENT_READ)

    def relieve(self) -> float:
        """Relieve threads that are long at work; say in how many seconds to look again."""
        return min(line.relieve() for line in (self._work, self._streams, self._pages))

    def sweep(self, now: float) -> None:
        """Give up all that has waited too long by `now`, as of `time.monotonic`."""
        for conn in [each for each in self._connections if each.timeout <= now]:
            conn.expire(conn)
        if self._held_bytes > self._max_held_bytes:
            hurried = now + self._settings.client_timeout_s - _HURRIED_S
            for conn in [each for each in self._delivering if each.timeout <= hurried]:
                self._give_up_delivery(conn)
        for conn in self._work.overdue():
            self._refuse(conn, DeadlineExceeded(), keeps=True)
        if self._work.waiting != self._waiting:
            self._waiting = self._work.waiting
            tell_waiting(self._waiting)

    def drop_resting(self) -> None:
        """Close connections without a request."""
        for conn in [each for each in self._connections if each.is_resting]:
            self._drop(conn)

    def _watch(self, conn: Connection, events: int) -> None:
        """Have the poller look at a connection for these events, or for none."""
        if events == conn.watched:
            return
        if not conn.watched:
            self._worker.poller.register(conn.wire, events, lambda _: conn.ready(conn))
        elif events:
            self._worker.poller.modify(
                conn.wire, events, self._worker.poller.get_key(conn.wire).data
            )
        else:
            self._worker.poller.unregister(conn.wire)
        conn.watched = events

    def _receive(self, conn: Connection) -> None:
        """Take over what has arrived, and hand the request to a thread when it is whole."""
        data = conn.receive()
        if data is None:
            return
        if not data:
            conn.has_ended = True
            self._watch(conn, 0)
        elif conn.is_resting:
            conn.timeout = time.monotonic() + self._settings.client_timeout_s
        conn.add(data)
        if not conn.is_busy:
            self._advance(conn)
        elif conn.size > _NEXT_BYTES:
            self._watch(conn, 0)

    def _advance(self, conn: Connection) -> None:
        """Hand a request to a thread where it is whole, and refuse it where it will not be."""
        try:
            size = conn.large_bytes
            more = size - conn.held_bytes
            if more > 0 and self._held_bytes + more > self._max_held_bytes:
                count_rejected("bodies")
                detail = "the bodies of other requests fill the memory that there is for them"
                raise Problem(OVERLOADED, detail, headers=RETRY_AFTER)
            self._hold(conn, size)
            if conn.is_ready(self._settings.max_body_bytes) or (conn.has_ended and conn.end()):
                self._enqueue(conn)
            elif conn.has_ended:
                self._drop(conn)
        except Exception as error:
            self._refuse(conn, error)

    def _enqueue(self, conn: Connection) -> None:
        request = conn.parser.parsed
        if request.is_streamed:
            line, reason = self._streams, "streams"
            places = "there are as many streams as TRELLIS_MAX_STREAMS already"
            self._watch(conn, 0)
        elif request.method in ("GET", "HEAD", "OPTIONS"):
            line, reason, places = self._pages, "waiting", ""
        else:
            line, reason = self._work, "waiting"
            places = "as many requests wait as TRELLIS_MAX_WAITING already"
        conn.is_busy = True
        conn.timeout = math.inf
        conn.deadline = time.monotonic() + self._settings.request_timeout_s
        if not line.join(conn, conn.deadline):
            count_rejected(reason)
            problem = Problem(OVERLOADED, places, headers=RETRY_AFTER)
            self._refuse(conn, problem, keeps=not request.is_streamed)

    def _answer(self, conn: Connection) -> None:
        """Answer a request, in a thread."""
        conn.is_kept = False
        try:
            request = conn.take(self._settings.client_timeout_s)
            with until(conn.deadline):
                kept = self._worker.handle_request(request, conn)
            conn.outbox.send()
            conn.is_kept = kept
        except TimeoutError:
            _log.info("gave up a client that takes nothing")
        except (OSError, StopIteration):
            conn.outbox.clear()  # the client has gone
        except Exception as error:
            conn.outbox.clear()
            conn.outbox.sendall(refusal(error, {}, keeps=False))

    def _answered(self, conn: Connection) -> None:
        """Let the connection rest where that is all; the poller need not be woken for it."""
        is_watched = conn.watched == selectors.EVENT_READ
        if not (conn.is_kept and is_watched) or conn.outbox.size or conn.held_bytes:
            self._worker.method_queue.defer(self._settle, conn)
            return
        conn.timeout = time.monotonic() + self._worker.cfg.keepalive
        conn.is_busy = False
        if conn.has_begun or conn.has_ended:  # seen here or by `_receive`
            self._worker.method_queue.defer(self._resume, conn)

    def _settle(self, conn: Connection) -> None:
        """Do what comes after an answer."""
        self._hold(conn, conn.outbox.size)
        if conn.outbox.size:
            self._deliver(conn)
        elif conn.is_kept:
            conn.is_busy = False
            conn.timeout = time.monotonic() + self._worker.cfg.keepalive
            self._resume(conn)
        else:
            self._linger(conn)

    def _resume(self, conn: Connection) -> None:
        """Go on with a request of which something came while the one before was answered."""
        if conn.is_busy:
            return
        self._watch(conn, 0 if conn.has_ended else selectors.EVENT_READ)
        if conn.has_begun or conn.has_ended:
            conn.timeout = time.monotonic() + self._settings.client_timeout_s
            self._advance(conn)

    def _refuse(self, conn: Connection, error: Exception, *, keeps: bool = False) -> None:
        """Answer without the app; `keeps` the connection where request and client do."""
        request = next(conn.parser)
        conn.is_kept = keeps and self._worker.alive and not request.should_close()
        conn.is_busy = True
        conn.timeout = math.inf
        headers = {} if request is None else dict(request.headers)
        conn.outbox.sendall(refusal(error, headers, keeps=conn.is_kept))
        try:
            conn.outbox.send()
        except OSError:
            self._drop(conn)
        else:
            self._settle(conn)

    def _give_up_arrival(self, conn: Connection) -> None:
        if conn.is_resting:
            self._drop(conn)
        else:
            detail = "the request did not arrive within TRELLIS_CLIENT_TIMEOUT_S"
            self._refuse(conn, Problem(REQUEST_TIMEOUT, detail))

    def _deliver(self, conn: Connection) -> None:
        """Send the rest of an answer as its client takes it."""
        conn.ready, conn.expire = self._send_more, self._give_up_delivery
        conn.timeout = time.monotonic() + self._settings.client_timeout_s
        self._delivering.add(conn)
        self._watch(conn, selectors.EVENT_WRITE)

    def _send_more(self, conn: Connection) -> None:
        try:
            conn.taken_bytes += conn.outbox.send()
        except OSError:
            self._drop(conn)
            return
        self._hold(conn, conn.outbox.size)
        if not conn.outbox.size:
            conn.ready, conn.expire = self._receive, self._give_up_arrival
            self._delivering.remove(conn)
            self._settle(conn)
        elif conn.taken_bytes >= _PIECE_BYTES:
            conn.taken_bytes = 0
            conn.timeout = time.monotonic() + self._settings.client_timeout_s

    def _give_up_delivery(self, conn: Connection) -> None:
        _log.info("gave up a client that takes nothing")
        self._drop(conn)

    def _linger(self, conn: Connection) -> None:
        """End a connection when its client does: else it would lose the end of its answer.

        What it is still sending is read and forgotten, as long as a request may take.
        """
        now = time.monotonic()
        try:
            conn.wire.setblocking(False)
            conn.wire.shutdown(socket.SHUT_WR)
        except OSError:
            conn.has_ended = True
        if conn.has_ended:
            self._drop(conn)
            return
        conn.ready = partial(self._discard, now + self._settings.client_timeout_s)
        conn.expire = self._drop
        conn.timeout = now + _LINGER_S
        self._watch(conn, selectors.EVENT_READ)

    def _discard(self, end: float, conn: Connection) -> None:
        data = conn.receive()
        if data is None:
            return
        if not data:
            self._drop(conn)
        elif self._worker.alive:
            conn.timeout = min(time.monotonic() + _LINGER_S, end)

    def _hold(self, conn: Connection, size: int) -> None:
        self._held_bytes += size - conn.held_bytes
        conn.held_bytes = size

    def _drop(self, conn: Connection) -> None:
        self._watch(conn, 0)
        self._hold(conn, 0)
        self._delivering.discard(conn)
        self._connections.discard(conn)
        conn.close()
