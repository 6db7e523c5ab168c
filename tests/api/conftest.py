"""The app under test, in this process and behind a gunicorn of its own."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from service.api.app import create_app
from service.config import Settings
from tests.api.fakes import RELEASE_FILE, rule_registry

ROOT = Path(__file__).resolve().parents[2]
SERVER_LIMITS = {"TRELLIS_MAX_BODY_BYTES": "300000", "TRELLIS_MAX_TEXT_CHARS": "100000"}
START_TIMEOUT_S = 60


@pytest.fixture(scope="session")
def settings() -> Settings:
    return Settings(
        max_body_bytes=100_000, max_text_chars=1_000, max_documents=10, max_sentence_tokens=50
    )


@pytest.fixture(scope="session")
def app(settings: Settings) -> Flask:
    return create_app(settings, rule_registry())


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@dataclass(frozen=True)
class Server:
    """A gunicorn that runs; `log` is what it writes, `release` ends its slow requests."""

    port: int
    log: Path
    release: Path
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def gunicorn(app: str) -> list[str]:
    """The command that serves an app."""
    return [sys.executable, "-m", "gunicorn", "-c", "python:service.gunicorn_settings", app]


def serving_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """This environment without settings of Trellis, apart from those given."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("TRELLIS_")}
    return inherited | dict(environment)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def serving(app: str, log: Path, **environment: str) -> Iterator[Server]:
    """Serve an app, on a free port unless one is given.

    Ends gunicorn as an orchestrator does, and waits for it.
    """
    port = int(environment.get("TRELLIS_PORT") or free_port())
    release = log.with_name("release")
    environment = {
        "TRELLIS_PORT": str(port),
        "TRELLIS_WORKERS": "1",
        RELEASE_FILE: str(release),
        **environment,
    }
    with log.open("wb") as stream:
        process = subprocess.Popen(
            gunicorn(app),
            cwd=ROOT,
            env=serving_environment(environment),
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    try:
        _await_port(port, process, log)
        yield Server(port, log, release, process)
    finally:
        process.terminate()
        assert process.wait(timeout=START_TIMEOUT_S) == 0


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("server") / "log"
    with serving("tests.api.served:app", log, **SERVER_LIMITS) as server:
        yield server


def _await_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail(f"gunicorn did not start:\n{log.read_text()}")
