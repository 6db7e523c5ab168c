"""gunicorn's threaded worker: what we need of it and it lacks.

This, `exchange`, `connection`, `arrival`, `outbox`, `refusal` and `master` are all that knows
gunicorn's internals.

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

import math
import socket
import time
from collections.abc import Mapping
from typing import Any

from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

from service.api import balance
from service.api.exchange import Exchanges
from service.config import load_settings

_SWEEP_S = 1.0
_STOPPING_SWEEP_S = 0.1


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
        self.cfg.set("sendfile", False)  # it would wait for the client
        self._next_sweep = 0.0
        self._rest_until = math.inf  # then connections without a request are closed

    def run(self) -> None:
        """Start the threads, after the fork, and serve."""
        self._exchanges = Exchanges(self, load_settings())
        super().run()

    def accept(self, listener: socket.socket) -> bool:
        """Take a new connection, and say whether there was one."""
        balance.let_others_first(self.age)
        try:
            wire, address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return False
        self._exchanges.begin(wire, address, listener.getsockname())
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
        self.nr_conns = len(self._exchanges)

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        """Wait for clients and threads, until the next sweep at most."""
        left_s = max(0.0, self._next_sweep - time.monotonic())
        super().wait_for_and_dispatch_events(min(timeout, left_s, self._exchanges.relieve()))
        self.nr_conns = len(self._exchanges)
        if self.alive:
            balance.say(self.age, self.nr_conns)

    def notify(self) -> None:
        """Do nothing: not every event need tell the master that this worker lives."""

    def murder_pending(self) -> None:
        """Give up all that has waited too long, and tell the master that this worker lives."""
        now = time.monotonic()
        if now < self._next_sweep:
            return
        super().notify()
        self._next_sweep = now + (_SWEEP_S if self.alive else _STOPPING_SWEEP_S)
        self._exchanges.sweep(now)
        if now >= self._rest_until:
            self._exchanges.drop_resting()
        self.nr_conns = len(self._exchanges)

    def _cap_keepalive(self, deadline: float) -> None:
        """Close connections that are idle by `deadline`: the worker stops."""
        self._rest_until = deadline
        self._next_sweep = 0.0
