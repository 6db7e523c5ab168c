"""gunicorn's threaded worker: what we need of it and it lacks.

This, `connection`, `arrival`, `outbox`, `refusal` and `master` are all that knows gunicorn's
internals.

- *No thread waits for a client.* gthread reads and lingers in its few threads and in its main loop,
  so a hundred clients that send half a request stop everybody. Here the main loop's poller waits: a
  connection goes to a thread when its request has arrived in whole. Head and body have
  `client_timeout_s` to do so, all together, else the answer is 408. A connection that ends lingers
  in the poller as well, and so does an answer that its client is slow to take. A stream is read and
  written by its thread; there are few, and the app gives up those that stall.
- *Few threads compete for Python's lock.* A request that changes threads often loses the caches of
  its core, which can double its cost. So as many answer at once as may tag at once, and what waits
  for them does so in a line without a thread. Probes, pages and streams have their own.
- *What waits is bounded.* The line is; so is the memory for bodies and answers, by that of the
  requests that run if each had the largest body. Over it a request is refused by 503, unless it is
  small, and clients that are slow to take an answer have less time.
- *Errors before the app are problems too*; see `refusal`.
- *A body can be read as it arrives.* gunicorn's own waits for a kilobyte at least, also where the
  client waits for an answer.
- *A stop answers what has come.* Connections that the kernel has taken, but not we, are not reset.
"""

import logging
import math
import selectors
import socket
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

from service.api import balance
from service.api.admission import RETRY_AFTER, DeadlineExceeded, until
from service.api.connection import Connection
from service.api.line import Line
from service.api.problems import OVERLOADED, REQUEST_TIMEOUT, Problem
from service.api.refusal import refusal
from service.config import load_settings

_RECEIVED_BYTES = 2**16
_NEXT_BYTES = 2**16  # of requests that come before the answer to the one before
_PIECE_BYTES = 2**16  # a client has to take this much of an answer within the time limit
_LINGER_S = 2.0  # as gunicorn
_HURRIED_S = 1.0  # for such a piece, where memory is short
_SWEEP_S = 1.0
_STOPPING_SWEEP_S = 0.1
_PAGE_THREADS = 2
_log = logging.getLogger(__name__)


def limit_stalls(environ: Mapping[str, Any], timeout_s: float) -> None:
    """Give up the client of this request where it neither sends nor takes for `timeout_s`.

    A read raises `TimeoutError` then, and so does a write that is not taken as a whole.
    """
    connection: socket.socket | None = environ.get("gunicorn.socket")
    if connection is not None:  # another server, such as the one of the tests, has none
        connection.settimeout(timeout_s)


class ProblemWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A `ThreadWorker` that waits for clients in its poller, and answers with problems.

    The poller's thread has all methods but `_answer` and `_answered`.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.cfg.set("sendfile", False)  # it would wait for the client
        self._settings = load_settings()
        self._connections: set[Connection] = set()
        self._delivering: set[Connection] = set()
        self._held_bytes = 0
        self._max_held_bytes = self._settings.max_body_bytes * self._settings.max_running
        self._next_sweep = 0.0
        self._rest_until = math.inf  # then connections without a request are closed

    def init_process(self) -> None:
        """Start the threads, after the fork, and serve."""
        settings = self._settings
        line = partial(Line[Connection], self._answer, self._answered)
        self._work = line(threads=settings.max_running, max_waiting=settings.max_waiting)
        self._streams = line(threads=settings.max_streams, max_waiting=0)
        self._pages = line(threads=_PAGE_THREADS, max_waiting=self.worker_connections)
        super().init_process()

    def accept(self, listener: socket.socket) -> bool:
        """Take a new connection, and wait for its request; say whether there was one."""
        balance.let_others_first(self.age)
        try:
            wire, address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return False
        conn = Connection(self.cfg, wire, address, listener.getsockname())
        conn.ready, conn.expire = self._receive, self._give_up_arrival
        conn.timeout = time.monotonic() + self._settings.client_timeout_s
        self._connections.add(conn)
        self._count()
        self._watch(conn, selectors.EVENT_READ)
        return True

    def set_accept_enabled(self, enabled: bool) -> None:
        """Take connections or not; those that came before a stop are taken."""
        super().set_accept_enabled(enabled)
        if self.alive:
            return
        balance.leave(self.age)
        for listener in self.sockets:
            while self.accept(listener):
                pass
            listener.close()  # what comes now is refused, and may go elsewhere

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        """Wait for clients and threads, until the next sweep at most."""
        left_s = max(0.0, self._next_sweep - time.monotonic())
        relief_s = min(line.relieve() for line in (self._work, self._streams, self._pages))
        super().wait_for_and_dispatch_events(min(timeout, left_s, relief_s))

    def notify(self) -> None:
        """Do nothing: not every event need tell the master that this worker lives."""

    def murder_pending(self) -> None:
        """Give up all that has waited too long, and tell the master that this worker lives."""
        now = time.monotonic()
        if now < self._next_sweep:
            return
        super().notify()
        self._next_sweep = now + (_SWEEP_S if self.alive else _STOPPING_SWEEP_S)
        for conn in [each for each in self._connections if each.timeout <= now]:
            conn.expire(conn)
        if now >= self._rest_until:
            for conn in [each for each in self._connections if each.is_resting]:
                self._drop(conn)
        if self._held_bytes > self._max_held_bytes:
            hurried = now + self._settings.client_timeout_s - _HURRIED_S
            for conn in [each for each in self._delivering if each.timeout <= hurried]:
                self._give_up_delivery(conn)
        for conn in self._work.overdue():
            self._refuse(conn, DeadlineExceeded(), keeps=True)

    def _cap_keepalive(self, deadline: float) -> None:
        """Close connections that are idle by `deadline`: the worker stops."""
        self._rest_until = deadline
        self._next_sweep = 0.0

    def _count(self) -> None:
        self.nr_conns = len(self._connections)
        if self.alive:
            balance.say(self.age, self.nr_conns)

    def _watch(self, conn: Connection, events: int) -> None:
        """Have the poller look at a connection for these events, or for none."""
        if events == conn.watched:
            return
        if not conn.watched:
            self.poller.register(conn.wire, events, lambda _: conn.ready(conn))
        elif events:
            self.poller.modify(conn.wire, events, self.poller.get_key(conn.wire).data)
        else:
            self.poller.unregister(conn.wire)
        conn.watched = events

    def _receive(self, conn: Connection) -> None:
        """Take over what has arrived, and hand the request to a thread when it is whole."""
        try:
            data = conn.wire.recv(_RECEIVED_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
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
            if self._held_bytes + size - conn.held_bytes > self._max_held_bytes:
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
            line, places = self._streams, "there are as many streams as TRELLIS_MAX_STREAMS already"
            self._watch(conn, 0)
        elif request.method in ("GET", "HEAD", "OPTIONS"):
            line, places = self._pages, ""
        else:
            line, places = self._work, "as many requests wait as TRELLIS_MAX_WAITING already"
        conn.is_busy = True
        conn.timeout = math.inf
        conn.deadline = time.monotonic() + self._settings.request_timeout_s
        if not line.join(conn, conn.deadline):
            problem = Problem(OVERLOADED, places, headers=RETRY_AFTER)
            self._refuse(conn, problem, keeps=not request.is_streamed)

    def _answer(self, conn: Connection) -> None:
        """Answer a request, in a thread."""
        conn.is_kept = False
        try:
            request = conn.take(self._settings.client_timeout_s)
            with until(conn.deadline):
                kept = self.handle_request(request, conn)
            conn.outbox.send()
            conn.is_kept = kept
        except TimeoutError:
            _log.info("gave up a client that takes nothing")
        except (OSError, StopIteration):
            conn.outbox.clear()  # the client has gone
        except Exception as error:
            conn.outbox.clear()
            conn.outbox.sendall(refusal(error, keeps=False))

    def _answered(self, conn: Connection) -> None:
        """Let the connection rest where that is all; the poller need not be woken for it."""
        is_watched = conn.watched == selectors.EVENT_READ
        if not (conn.is_kept and is_watched) or conn.outbox.size or conn.held_bytes:
            self.method_queue.defer(self._settle, conn)
            return
        conn.timeout = time.monotonic() + self.cfg.keepalive
        conn.is_busy = False
        if conn.has_begun or conn.has_ended:  # seen here or by `_receive`
            self.method_queue.defer(self._resume, conn)

    def _settle(self, conn: Connection) -> None:
        """Do what comes after an answer."""
        self._hold(conn, conn.outbox.size)
        if conn.outbox.size:
            self._deliver(conn)
        elif conn.is_kept:
            conn.is_busy = False
            conn.timeout = time.monotonic() + self.cfg.keepalive
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
        conn.is_kept = keeps and self.alive and not request.should_close()
        conn.is_busy = True
        conn.timeout = math.inf
        conn.outbox.sendall(refusal(error, keeps=conn.is_kept))
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
        try:
            data = conn.wire.recv(_RECEIVED_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop(conn)
        elif self.alive:
            conn.timeout = min(time.monotonic() + _LINGER_S, end)

    def _hold(self, conn: Connection, size: int) -> None:
        self._held_bytes += size - conn.held_bytes
        conn.held_bytes = size

    def _drop(self, conn: Connection) -> None:
        self._watch(conn, 0)
        self._hold(conn, 0)
        self._delivering.discard(conn)
        self._connections.discard(conn)
        self._count()
        conn.close()
