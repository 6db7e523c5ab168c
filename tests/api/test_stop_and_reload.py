"""SIGTERM and SIGHUP: nothing that was asked is lost, and a bad new model replaces none."""

import json
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from service.store.manifest import MANIFEST_FILE, WEIGHTS_FILE
from tests.api.conftest import START_TIMEOUT_S, Server, serving
from tests.api.fakes import SLOW_WORD, make_model_dir
from tests.api.test_server import TIMEOUT_S

NAME = "en-pos-one"


def get(server: Server, path: str) -> requests.Response:
    return requests.get(server.url + path, timeout=TIMEOUT_S)


def tag(server: Server, text: str = "the bill") -> requests.Response:
    return requests.post(f"{server.url}/tag", json={"text": text}, timeout=TIMEOUT_S)


def await_log(server: Server, line: str) -> None:
    while line not in server.log.read_text():
        assert server.process.poll() is None
        time.sleep(0.05)


def test_requests_are_taken_while_balancers_are_told_to_send_none(tmp_path: Path) -> None:
    with serving(
        "tests.api.served:app", tmp_path / "log", TRELLIS_DRAIN_S="20", TRELLIS_WORKERS="2"
    ) as server:
        assert get(server, "/readyz").status_code == 200
        server.process.terminate()
        await_log(server, "Handling signal: term")
        while get(server, "/readyz").status_code == 200:
            pass
        for _ in range(10):  # both workers
            for path in ("/readyz", "/health"):
                problem = get(server, path).json()
                assert problem["type"] == "urn:trellis:problem:not-ready"
                assert "about to stop" in problem["detail"]
            assert get(server, "/livez").status_code == 200
            assert tag(server).status_code == 200
        # a second SIGTERM, which `serving` sends, ends the wait


def test_the_wait_has_an_end(tmp_path: Path) -> None:
    with serving("tests.api.served:app", tmp_path / "log", TRELLIS_DRAIN_S="1") as server:
        server.process.terminate()
        assert server.process.wait(START_TIMEOUT_S) == 0
        assert "Handling signal: alrm" in server.log.read_text()


class Asking(threading.Thread):
    """Asks again and again; keeps every status, and the versions of the model that answered."""

    def __init__(self, server: Server) -> None:
        super().__init__()
        self.server = server
        self.statuses: set[int] = set()
        self.versions: list[str] = []
        self._is_over = threading.Event()

    def run(self) -> None:
        while not self._is_over.is_set():
            answer = tag(self.server)
            self.statuses.add(answer.status_code)
            self.versions.append(answer.json()["model"]["version"])

    def end(self) -> None:
        self._is_over.set()
        self.join()


@pytest.fixture
def models(tmp_path: Path) -> Path:
    make_model_dir(tmp_path / "models", NAME)
    return tmp_path / "models"


@pytest.fixture
def server(models: Path, tmp_path: Path) -> Iterator[Server]:
    with serving(
        "service.wsgi:app",
        tmp_path / "log",
        TRELLIS_MODELS_DIR=str(models),
        TRELLIS_WORKERS="2",
    ) as server:
        yield server


def set_version(models: Path, version: str) -> None:
    manifest = models / NAME / MANIFEST_FILE
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"version": version}))


def test_a_reload_under_load_loses_nothing(server: Server, models: Path) -> None:
    asking = [Asking(server) for _ in range(4)]
    for one in asking:
        one.start()
    for version in ("1.0.1", "1.0.2"):
        set_version(models, version)
        server.process.send_signal(signal.SIGHUP)
        while not all(version in one.versions[-1:] for one in asking):
            assert all(one.is_alive() for one in asking)
            time.sleep(0.05)
    for one in asking:
        one.end()
        assert one.statuses == {200}
        assert set(one.versions) == {"1.0.0", "1.0.1", "1.0.2"}


def test_a_bad_new_model_replaces_none(server: Server, models: Path) -> None:
    weights = models / NAME / WEIGHTS_FILE
    good = weights.read_bytes()
    weights.write_bytes(good[:-1])
    while server.log.read_text().count("Booting worker") < 2:
        time.sleep(0.05)
    server.process.send_signal(signal.SIGHUP)
    await_log(server, "not reloaded")
    assert str(weights) in server.log.read_text()
    assert tag(server).status_code == 200
    assert server.log.read_text().count("Booting worker") == 2
    weights.write_bytes(good)
    set_version(models, "1.0.1")
    server.process.send_signal(signal.SIGHUP)
    while tag(server).json()["model"]["version"] != "1.0.1":
        time.sleep(0.05)


def test_what_is_in_flight_is_answered_by_the_old_ones(tmp_path: Path) -> None:
    statuses = []
    with serving("tests.api.served:app", tmp_path / "log") as server:
        slow = threading.Thread(target=lambda: statuses.append(tag(server, SLOW_WORD).status_code))
        slow.start()
        while get(server, "/livez").status_code != 200:
            pass
        time.sleep(0.5)  # the slow request has begun
        server.process.send_signal(signal.SIGHUP)
        while server.log.read_text().count("Booting worker") < 2:
            time.sleep(0.05)
        assert tag(server).status_code == 200
        assert not statuses
        server.release.touch()
        slow.join()
    assert statuses == [200]
