"""The client, against the tests' gunicorn and against a server that has no time."""

import re
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from service.client import (
    ConnectionFailed,
    ProblemError,
    TrellisClient,
    TrellisClientError,
)
from tests.api.conftest import Server

TEXT = "Jane Villanueva of United Airlines"


@pytest.fixture
def trellis(server: Server) -> Iterator[TrellisClient]:
    with TrellisClient(server.url, timeout_s=20) as trellis:
        yield trellis


def test_one_document(trellis: TrellisClient) -> None:
    answer = trellis.ner(text=TEXT, labels=["ORG"], offset_unit="utf8")
    assert [span["text"] for span in answer["spans"]] == ["United Airlines"]
    tagged = trellis.tag(tokens=[["the", "bill"]], tagset="ud")
    assert [token["tag"] for token in tagged["tokens"]] == ["DET", "NOUN"]
    assert tagged["model"]["name"] == "en-upos-crf"


def test_batches(trellis: TrellisClient) -> None:
    answer = trellis.ner_batch([{"text": TEXT}, {"tokens": [[""]]}], model="en-ner-crf")
    good, bad = answer["documents"]
    assert "spans" in good
    assert len(good["spans"]) == 2
    assert "error" in bad
    assert bad["error"]["pointer"] == "/documents/1/tokens/0/0"
    assert len(trellis.tag_batch([{"text": ""}], tagset="ptb")["documents"]) == 1


def test_state(trellis: TrellisClient) -> None:
    names = [model["name"] for model in trellis.models()]
    assert trellis.model(names[0])["name"] == names[0]
    assert [model["name"] for model in trellis.health()["models"]] == names
    assert trellis.ready() is True


def test_a_problem_is_raised(trellis: TrellisClient) -> None:
    with pytest.raises(ProblemError, match="422 Invalid request") as raised:
        trellis.ner(text=TEXT, labels=["X"])
    assert raised.value.status == 422
    assert raised.value.type == "urn:trellis:problem:invalid-request"
    assert raised.value.pointer == "/labels/0"
    with pytest.raises(ProblemError, match="404"):
        trellis.model("a/b")


def test_nobody_answers() -> None:
    with (
        TrellisClient("http://127.0.0.1:9", retries=0) as trellis,
        pytest.raises(ConnectionFailed, match=re.escape("127.0.0.1:9")) as raised,
    ):
        trellis.ready()
    assert isinstance(raised.value, TrellisClientError)


class Busy(BaseHTTPRequestHandler):
    """Says 503 until `busy` has run out, then answers with an empty object."""

    busy = 0
    asked = 0
    answer = b"{}"
    retry_after = "0"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def do_GET(self) -> None:
        cls = type(self)
        cls.asked += 1
        is_busy = cls.asked <= cls.busy
        self.send_response(503 if is_busy else 200)
        if is_busy:
            self.send_header("Retry-After", self.retry_after)
        self.send_header("Content-Length", str(len(self.answer)))
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def busy() -> Iterator[tuple[type[Busy], str]]:
    class Fresh(Busy):
        pass

    server = HTTPServer(("127.0.0.1", 0), Fresh)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield Fresh, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_503_is_asked_again(busy: tuple[type[Busy], str]) -> None:
    handler, url = busy
    handler.busy = 2
    with TrellisClient(url, retries=2) as trellis:
        assert trellis.tag(text="a") == {}
    assert handler.asked == 3


def test_503_is_asked_again_no_sooner_than_it_says(busy: tuple[type[Busy], str]) -> None:
    handler, url = busy
    handler.busy, handler.retry_after = 1, "1"
    with TrellisClient(url, retries=1) as trellis:
        begin_s = time.monotonic()
        trellis.tag(text="a")
    assert time.monotonic() - begin_s >= 1


def test_a_server_that_stalls_is_given_up(busy: tuple[type[Busy], str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with (
            TrellisClient(url, timeout_s=0.2, retries=0) as trellis,
            pytest.raises(ConnectionFailed),
        ):
            trellis.tag(text="a")


def test_503_is_raised_in_the_end(busy: tuple[type[Busy], str]) -> None:
    handler, url = busy
    handler.busy = 9
    with TrellisClient(url, retries=1) as trellis:
        with pytest.raises(ProblemError, match="503"):
            trellis.tag(text="a")
        assert handler.asked == 2
        assert trellis.ready() is False
        with pytest.raises(ProblemError, match="503"):
            trellis.health()
        assert handler.asked == 4


def test_an_answer_of_something_else(busy: tuple[type[Busy], str]) -> None:
    handler, url = busy
    handler.answer = b"<html>"
    with TrellisClient(url) as trellis, pytest.raises(ConnectionFailed, match="no JSON"):
        trellis.models()
