"""More than the service can do: one more is refused at once, and nothing is worked on for ever."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests
from flask.testing import FlaskClient

from service.api.app import create_app
from service.config import Settings
from tests.api.conftest import SERVER_LIMITS, Server, serving
from tests.api.fakes import SLOW_WORD, rule_registry
from tests.api.test_server import TIMEOUT_S, post
from tests.api.test_streams import NDJSON, lines

RUNNING, WAITING, STREAMS = 1, 2, 2
LIMITS = SERVER_LIMITS | {
    "TRELLIS_MAX_RUNNING": str(RUNNING),
    "TRELLIS_MAX_WAITING": str(WAITING),
    "TRELLIS_MAX_STREAMS": str(STREAMS),
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("small") / "log"
    with serving("tests.api.served:app", log, **LIMITS) as server:
        yield server


class Asking(threading.Thread):
    """Asks for something slow in a thread."""

    def __init__(self, server: Server) -> None:
        super().__init__()
        self.url = f"{server.url}/tag"

    def run(self) -> None:
        self.answer = requests.post(self.url, json={"text": SLOW_WORD}, timeout=TIMEOUT_S)


def test_what_has_no_place_is_refused_at_once_and_probes_need_none(small: Server) -> None:
    asking = [Asking(small) for _ in range(RUNNING + WAITING + 5)]
    for one in asking:
        one.start()
    while sum(one.is_alive() for one in asking) > RUNNING + WAITING:
        for path in ("/livez", "/readyz", "/version", "/docs"):
            assert requests.get(small.url + path, timeout=TIMEOUT_S).status_code == 200
    refused = [one.answer for one in asking if not one.is_alive()]
    assert len(refused) == 5  # no slow one is done
    for answer in refused:
        assert answer.status_code == 503
        assert answer.headers["Retry-After"] == "1"
        assert answer.json()["type"] == "urn:trellis:problem:overloaded"
    small.release.touch()
    for one in asking:
        one.join()
    statuses = sorted(one.answer.status_code for one in asking)
    assert statuses == [200] * (RUNNING + WAITING) + [503] * 5
    answer = requests.post(f"{small.url}/tag", json={"text": "a"}, timeout=TIMEOUT_S)
    assert answer.status_code == 200


def test_who_is_refused_may_ask_again_on_the_same_connection(small: Server) -> None:
    small.release.unlink(missing_ok=True)
    asking = [Asking(small) for _ in range(RUNNING + WAITING + 1)]
    for one in asking:
        one.start()
    while all(one.is_alive() for one in asking):  # until all places are taken
        time.sleep(0.01)
    with requests.Session() as session:
        answer = session.post(f"{small.url}/tag", json={"text": "a"}, timeout=TIMEOUT_S)
        assert answer.status_code == 503
        assert answer.headers["Connection"] == "keep-alive"
        small.release.touch()
        for one in asking:
            one.join()
        again = session.post(f"{small.url}/tag", json={"text": "a"}, timeout=TIMEOUT_S)
        assert again.status_code == 200


def test_a_short_request_does_not_wait_for_the_end_of_long_ones(tmp_path: Path) -> None:
    limits = LIMITS | {"TRELLIS_MAX_RUNNING": "3"}
    with serving("tests.api.served:app", tmp_path / "log", **limits) as server:
        asking = [Asking(server) for _ in range(2)]
        for one in asking:
            one.start()
        for _ in range(20):
            answer = requests.post(f"{server.url}/tag", json={"text": "a"}, timeout=TIMEOUT_S)
            assert answer.status_code == 200
        assert all(one.is_alive() for one in asking)
        server.release.touch()
        for one in asking:
            one.join()


def test_a_hundred_ordinary_clients_are_all_answered(server: Server) -> None:
    """With the default settings, by one worker; each keeps its connection."""
    body = json.dumps({"text": "the bill"}).encode()
    request = post("/tag", body, Connection="keep-alive")
    with ExitStack() as stack:
        clients = [
            stack.enter_context(
                socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_S)
            )
            for _ in range(100)
        ]
        for _ in range(3):
            for client in clients:
                client.sendall(request)
            assert {client.recv(65536)[:13] for client in clients} == {b"HTTP/1.1 200 "}


def begin_stream(server: Server, stack: ExitStack) -> tuple[socket.socket, bytes]:
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_S)
    stack.enter_context(connection)
    connection.sendall(post("/tag/batch", b"", Content_Type=NDJSON, Content_Length="1000"))
    return connection, connection.recv(4096)


def test_streams_are_few(small: Server) -> None:
    with ExitStack() as stack:
        streams = [begin_stream(small, stack) for _ in range(STREAMS)]
        assert all(head.startswith(b"HTTP/1.1 200 ") for _, head in streams)
        for _ in range(5):
            connection, head = begin_stream(small, stack)
            assert head.startswith(b"HTTP/1.1 503 ")
            assert b"Retry-After: 1\r\n" in head
        single = requests.post(f"{small.url}/tag", json={"text": "a"}, timeout=TIMEOUT_S)
        assert single.status_code == 200
        for connection, _ in streams:
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as answer:
                assert answer.read().endswith(b"0\r\n\r\n")
        assert begin_stream(small, stack)[1].startswith(b"HTTP/1.1 200 ")


def test_what_waits_too_long_is_given_up(tmp_path: Path) -> None:
    limits = LIMITS | {"TRELLIS_REQUEST_TIMEOUT_S": "1"}
    with serving("tests.api.served:app", tmp_path / "log", **limits) as server:
        asking = [Asking(server) for _ in range(RUNNING + WAITING)]
        for one in asking:
            one.start()
        while sum(one.is_alive() for one in asking) > RUNNING:
            pass
        given_up = [one.answer for one in asking if not one.is_alive()]
        server.release.touch()
        for one in asking:
            one.join()
    assert [answer.status_code for answer in given_up] == [504] * WAITING
    assert {answer.json()["type"] for answer in given_up} == {
        "urn:trellis:problem:deadline-exceeded"
    }


@pytest.fixture
def hurried() -> FlaskClient:
    """Of a service whose time is always over."""
    return create_app(Settings(request_timeout_s=1e-9), rule_registry()).test_client()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/tag", {"text": "a"}),
        ("/ner", {"tokens": [["a"]]}),
        ("/ner/batch", {"documents": [{"text": "a"}, {"text": 5}]}),
        ("/compat/huggingface", {"inputs": "a"}),
        ("/compat/presidio/analyze", {"text": ["a", "b"], "language": "en"}),
    ],
)
def test_a_request_has_a_deadline(hurried: FlaskClient, path: str, body: object) -> None:
    """Also a batch: it fails as a whole."""
    answer = hurried.post(path, json=body)
    assert answer.status_code == 504
    assert answer.json["type"] == "urn:trellis:problem:deadline-exceeded"
    assert hurried.get("/readyz").status_code == 200


def test_so_have_the_lines_of_a_stream(hurried: FlaskClient) -> None:
    answer = hurried.post("/tag/batch", data=json.dumps({"text": "a"}), content_type=NDJSON)
    [last] = lines(answer.data)
    assert last["error"]["status"] == 504
    assert "index" not in last
