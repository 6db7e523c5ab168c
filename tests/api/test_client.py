"""The client, against the tests' gunicorn and against a server that has no time."""

import itertools
import queue
import re
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from service.client import (
    ConnectionFailed,
    Document,
    NerOptions,
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


def test_a_stream(trellis: TrellisClient) -> None:
    documents = [{"text": TEXT}, {"tokens": [[""]]}, {"text": "the bill"}]
    first, bad, last = trellis.ner_stream(documents, labels=["ORG", "LOC"], offset_unit="utf8")
    assert [span["text"] for span in first["spans"]] == ["United Airlines"]
    assert (bad["index"], bad["error"]["pointer"]) == (1, "/tokens/0/0")
    assert last == trellis.ner(text="the bill", offset_unit="utf8")
    assert list(trellis.tag_stream([], tagset=None)) == []
    options: NerOptions = {
        "confidence": True,
        "threshold": 0.01,
        "dictionary": [{"phrase": "bill", "label": "LOC", "weight": 9.0}],
    }
    [answer] = trellis.ner_stream([{"text": "the bill"}], **options)
    assert answer == trellis.ner(text="the bill", **options)
    assert [span["label"] for span in answer["spans"]] == ["LOC"]


def test_a_stream_is_read_while_it_is_sent(trellis: TrellisClient) -> None:
    """Each document is made of the answer before it."""
    answers: queue.SimpleQueue[str] = queue.SimpleQueue()

    def documents() -> Iterator[Document]:
        yield {"text": "a"}
        for _ in range(5):
            yield {"text": answers.get() + "b"}

    for answer in trellis.tag_stream(documents()):
        answers.put(answer["tokens"][0]["text"])
    assert answer["tokens"][0]["text"] == "abbbbb"


def test_a_stream_larger_than_all_buffers(trellis: TrellisClient) -> None:
    texts = [f"{index} " + "the bill " * 250 + " " * 20_000 for index in range(500)]
    documents: Iterator[Document] = ({"text": text} for text in texts)
    for index, answer in enumerate(trellis.tag_stream(documents)):
        assert answer["tokens"][0]["text"] == str(index)
    assert index == len(texts) - 1


def test_a_stream_that_is_not_read_to_its_end(trellis: TrellisClient) -> None:
    stream = trellis.tag_stream({"text": "the bill"} for _ in itertools.count())
    next(stream)
    stream.close()
    deadline = time.monotonic() + 20
    while "_send" in {t.name.partition("(")[2].rstrip(")") for t in threading.enumerate()}:
        assert time.monotonic() < deadline  # the thread that sends has ended too
        time.sleep(0.01)


def test_what_is_wrong_with_all_of_a_stream_is_raised(trellis: TrellisClient) -> None:
    with pytest.raises(ProblemError, match="422") as raised:
        next(trellis.ner_stream([{"text": "a"}], labels=["X"]))
    assert raised.value.pointer == "/labels/0"


def test_a_failure_of_the_documents_is_raised_after_their_answers(trellis: TrellisClient) -> None:
    def documents() -> Iterator[Document]:
        yield {"text": "a"}
        raise LookupError("no more")

    stream = trellis.tag_stream(documents())
    assert next(stream)["tokens"][0]["text"] == "a"
    with pytest.raises(LookupError, match="no more"):
        next(stream)


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
        pytest.raises(
            ConnectionFailed, match=re.escape("127.0.0.1:9/readyz: Connection refused")
        ) as raised,
    ):
        trellis.ready()
    assert isinstance(raised.value, TrellisClientError)


def test_nobody_answers_a_stream() -> None:
    with pytest.raises(ConnectionFailed, match="Connection refused"):
        next(TrellisClient("http://127.0.0.1:9").tag_stream([]))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n", "2 documents"),
        (b"HTTP/1.0 200 OK\r\n\r\n{}\n", "2 documents were sent, 1 answered"),
        (b"HTTP/1.0 200 OK\r\n\r\n{}\n{", "JSONDecodeError"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}\n", "2 documents"),
    ],
    ids=["chunks", "lines", "line", "length"],
)
def test_a_stream_that_is_cut_off(answer: bytes, says: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                received = b""
                while not received.endswith(b"0\r\n\r\n"):
                    received += connection.recv(65536)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        stream = TrellisClient(f"http://127.0.0.1:{listening.getsockname()[1]}").tag_stream(
            [{"text": "a"}, {"text": "b"}]
        )
        assert next(stream) == {}
        with pytest.raises(ConnectionFailed, match=says):
            next(stream)
        thread.join()


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
