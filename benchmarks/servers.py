"""Servers under gunicorn, all with the settings of `service/gunicorn_settings.py`."""

import http.client
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from benchmarks.environments import ROOT, Unavailable, python_of
from benchmarks.programs import environment

START_TIMEOUT_S = 120
POLL_S = 0.005

TRELLIS = "Trellis"
TRELLIS_CRF = "Trellis with en-ner-crf"
EMPTY = "empty Flask application"
SPACY = "spaCy behind Flask"

Words = list[str | Path]


def _own() -> Words:
    return [sys.executable, "service.wsgi:app"]


def _empty() -> Words:
    return [sys.executable, "benchmarks.peers.flask.server:app"]


def _spacy() -> Words:
    return [python_of("spacy"), "benchmarks.peers.spacy.server:app"]


SERVERS: dict[str, Callable[[], Words]] = {
    TRELLIS: _own,
    TRELLIS_CRF: _own,
    EMPTY: _empty,
    SPACY: _spacy,
}
SETTINGS = {TRELLIS_CRF: {"TRELLIS_MODELS": "en-ner-crf"}}
"""Other settings than the defaults, by server."""


class Server:
    """A running server. A context: it ends with it.

    Parameters
    ----------
    name : key in `SERVERS`.
    settings : environment variables beside the defaults.

    Attributes
    ----------
    start_s : seconds from its start to its first answer that it is ready.

    Raises
    ------
    Unavailable
        Where it cannot be set up or does not start.
    """

    def __init__(self, name: str, **settings: str) -> None:
        python, app = SERVERS[name]()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115, closed in _stop
        started = time.perf_counter()
        self._process = subprocess.Popen(
            [python, "-m", "gunicorn", "-c", "python:service.gunicorn_settings", app],
            cwd=ROOT,
            env=environment(TRELLIS_PORT=str(self.port), **SETTINGS.get(name, {}), **settings),
            stderr=self._log,
        )
        while not self.answers("/readyz"):
            if self._process.poll() is not None:
                raise Unavailable(self._stop())
            if time.perf_counter() - started > START_TIMEOUT_S:
                raise Unavailable(f"it did not become ready: {self._stop()}")
            time.sleep(POLL_S)
        self.start_s = time.perf_counter() - started

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def _stop(self) -> str:
        """End it; the last line of its log."""
        self._process.terminate()
        self._process.wait()
        with self._log:
            self._log.seek(0)
            lines = self._log.read().decode(errors="replace").splitlines()
        return lines[-1] if lines else ""

    def answers(self, path: str) -> bool:
        """Whether a GET is answered with 200."""
        try:
            return self.request("GET", path) == 200
        except OSError:
            return False

    def request(self, method: str, path: str, body: bytes | None = None) -> int:
        """Send a request on a connection of its own, read the answer; return the status."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=START_TIMEOUT_S)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
            return response.status
        finally:
            connection.close()

    def workers(self) -> list[int]:
        """Process ids of the workers."""
        pid = self._process.pid
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def memory_mb(pid: int, field: str) -> float:
    """A figure of a process, in MB: ``Pss``, or of its status ``VmHWM`` or ``VmRSS``."""
    path = Path(f"/proc/{pid}/{'smaps_rollup' if field == 'Pss' else 'status'}")
    line = next(line for line in path.read_text().splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024 / 1e6
