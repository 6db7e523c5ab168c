"""Streams: a document a line, answered in order as they come, whatever goes wrong with one."""

import itertools
import json
import socket
from collections import deque
from collections.abc import Iterator
from io import BytesIO
from typing import Any, Self

import pytest
from flask.testing import FlaskClient

from service.api.answer_schemas import NerAnswer, StreamError
from service.api.app import create_app
from service.config import Settings
from tests.api.conftest import SERVER_LIMITS, Server, serving
from tests.api.fakes import FAILING_WORD, rule_registry
from tests.api.test_server import TIMEOUT_S, post

NDJSON = "application/x-ndjson"
TEXT = "Jane Villanueva of United Airlines"
MARK = "Zaphod"
DOCUMENTS = [{"text": TEXT}, {"tokens": [["the", "Jane"], []]}, {"text": ""}, {"text": "É Bo"}]


def ndjson(*documents: object) -> bytes:
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def lines(body: bytes) -> list[Any]:
    assert not body or body.endswith(b"\n")
    return [json.loads(line) for line in body.splitlines()]


def streamed(client: FlaskClient, path: str, body: bytes) -> list[Any]:
    answer = client.post(path, data=body, content_type=NDJSON)
    assert (answer.status_code, answer.content_type) == (200, NDJSON)
    return lines(answer.data)


@pytest.fixture
def curious() -> FlaskClient:
    """Of a service that looks into 30 tokens of a request."""
    return create_app(Settings(max_analysed_tokens=30), rule_registry()).test_client()


@pytest.mark.parametrize(
    ("path", "query", "options"),
    [
        ("/tag", "", {}),
        ("/tag", "?tagset=ud&offset_unit=utf16", {"tagset": "ud", "offset_unit": "utf16"}),
        ("/ner", "?labels=PER", {"labels": ["PER"]}),
        ("/ner", "?confidence=true&n_best=2", {"confidence": True, "n_best": 2}),
    ],
)
def test_a_line_is_answered_as_its_document_alone(
    client: FlaskClient, path: str, query: str, options: dict[str, Any]
) -> None:
    alone = [client.post(path, json=document | options).json for document in DOCUMENTS]
    assert streamed(client, f"{path}/batch{query}", ndjson(*DOCUMENTS)) == alone


def test_what_is_known_of_a_document_stands_in_its_line(client: FlaskClient) -> None:
    known = {"token_start": 0, "token_end": 1, "label": "LOC", "mode": "span"}
    far = known | {"token_end": 9}
    body = ndjson(*[{"text": "Jane", "constraints": [each]} for each in (known, far)])
    first, second = streamed(client, "/ner/batch", body)
    assert [span["label"] for span in first["spans"]] == ["LOC"]
    assert (second["index"], second["error"]["status"]) == (1, 422)
    assert second["error"]["pointer"].startswith("/constraints/0")
    [tagged] = streamed(client, "/tag/batch", ndjson({"text": "Jane", "constraints": []}))
    assert tagged["error"]["pointer"] == "/constraints"


def test_how_the_lines_arrive_makes_no_difference(client: FlaskClient) -> None:
    class Piecewise(BytesIO):
        def read1(self, size: int | None = -1) -> bytes:
            return super().read1(7)

    body = b"\r\n" + ndjson(*DOCUMENTS)[:-1] + b"\r\n \n\n" + ndjson(*DOCUMENTS)[:-1]
    for stream in (BytesIO(body), Piecewise(body)):
        answer = client.post(
            "/ner/batch", input_stream=stream, content_length=len(body), content_type=NDJSON
        )
        assert lines(answer.data) == 2 * streamed(client, "/ner/batch", ndjson(*DOCUMENTS))


@pytest.mark.parametrize("body", [b"", b"\n", b" \r\n\n"])
def test_no_documents(client: FlaskClient, body: bytes) -> None:
    assert streamed(client, "/tag/batch", body) == []


def test_more_documents_than_a_batch_may_have(client: FlaskClient) -> None:
    assert len(streamed(client, "/tag/batch", ndjson(*[{"text": "a"}] * 25))) == 25


def test_errors_stand_in_their_places(client: FlaskClient) -> None:
    bad = [
        (b'{"text": 5}', 422, "/text"),
        (b'{"text": "a", "tokens": []}', 422, ""),
        (b'{"tokens": [["a", "\\u2028"]]}', 422, "/tokens/0/1"),
        (json.dumps({"text": "a" * 1001}).encode(), 413, "/text"),
        (f'["{MARK}"]'.encode(), 422, ""),
        (f'{{"text": "{MARK}'.encode(), 400, None),
        (b'{"text": "caf\xe9"}', 400, None),
        (json.dumps({"text": f"{MARK} {FAILING_WORD}"}).encode(), 500, None),
        (b'{"text": "a", "model": "en-pos-crf"}', 422, "/model"),
        (b" " * 100_001, 413, ""),
    ]
    good = b'{"text": "a"}'
    body = b"\n".join(line for wrong, _, _ in bad for line in (good, wrong))
    answers = streamed(client, "/tag/batch", body)
    assert len(answers) == 2 * len(bad)
    for index, answer in enumerate(answers[::2]):
        assert answer["tokens"][0]["text"] == "a", index
    for index, (answer, (_, status, pointer)) in enumerate(zip(answers[1::2], bad, strict=True)):
        StreamError.model_validate(answer, strict=True, extra="forbid")
        assert answer["index"] == 2 * index + 1
        assert (answer["error"]["status"], answer["error"].get("pointer")) == (status, pointer)
        assert MARK not in json.dumps(answer)


def test_a_limit_of_tokens_is_one_of_each_line(curious: FlaskClient) -> None:
    body = ndjson(*[{"tokens": [["a"] * size]} for size in (30, 30, 31, 1)])
    for option, shown in (("marginals=true", "marginals"), ("n_best=2", "n_best")):
        answers = streamed(curious, f"/tag/batch?{option}", body)
        assert [answer.get("error", {}).get("limit") for answer in answers] == [
            None,
            None,
            30,
            None,
        ]
        assert shown in json.dumps(answers[0])
        assert answers[2]["index"] == 2
    assert len(streamed(curious, "/tag/batch?confidence=true", body)[2]["tokens"]) == 31


def test_a_line_of_just_the_limit_is_answered(client: FlaskClient) -> None:
    line = b'{"text": "a"}'
    body = line.ljust(100_000) + b"\n" + line.ljust(100_001) + b"\n" + line
    first, second, third = streamed(client, "/tag/batch", body)
    assert first == third
    assert second["error"]["limit"] == 100_000


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/tag/batch?labels=PER", {}, 422),
        ("/tag/batch?documents=[]", {}, 422),
        ("/ner/batch?labels=X", {}, 422),
        ("/ner/batch?model=x", {}, 404),
        ("/ner/batch", {"Accept": "application/json"}, 406),
        ("/ner/batch", {"Content-Encoding": "gzip"}, 415),
        ("/ner", {}, 415),
    ],
)
def test_what_is_wrong_with_all_of_a_stream_is_no_stream(
    client: FlaskClient, path: str, headers: dict[str, str], status: int
) -> None:
    answer = client.post(path, data=ndjson(*DOCUMENTS), headers={"Content-Type": NDJSON} | headers)
    assert (answer.status_code, answer.content_type) == (status, "application/problem+json")


def test_answers_are_as_the_schemas_say(client: FlaskClient) -> None:
    for answer in streamed(client, "/ner/batch", ndjson(*DOCUMENTS)):
        NerAnswer.model_validate(answer, strict=True, extra="forbid")


class Connection:
    """A stream over a socket, sent and read by hand."""

    def __init__(self, server: Server) -> None:
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_S)
        self.file = self.socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()
        self.socket.close()

    def head(self) -> tuple[str, dict[str, str]]:
        status = self.file.readline().decode()
        fields = iter(lambda: self.file.readline().decode().rstrip("\r\n"), "")
        return status, {k.lower(): v for k, v in (field.split(": ", 1) for field in fields)}

    def chunk(self) -> bytes:
        """The next chunk; none at the end of the answer."""
        data = self.file.read(int(self.file.readline(), 16))
        assert self.file.readline() == b"\r\n"
        return data


@pytest.fixture
def connection(server: Server) -> Iterator[Connection]:
    with Connection(server) as connection:
        yield connection


def begin(path: str = "/ner/batch", **headers: str) -> bytes:
    fields = {"Content_Type": NDJSON, "Content_Length": "", "Connection": "", **headers}
    if not fields["Content_Length"]:
        fields["Transfer_Encoding"] = "chunked"
    return post(path, b"", **fields)


def as_chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def test_an_answer_comes_before_the_next_document_is_sent(connection: Connection) -> None:
    connection.socket.sendall(begin())
    status, headers = connection.head()  # comes before any document is sent
    assert status.startswith("HTTP/1.1 200 ")
    assert headers["content-type"] == NDJSON
    assert headers["connection"] == "close"
    for document in DOCUMENTS:
        connection.socket.sendall(as_chunk(ndjson(document)))
        [answer] = lines(connection.chunk())
        assert "spans" in answer
    connection.socket.sendall(b"0\r\n\r\n")
    assert connection.chunk() == b""
    assert connection.file.read() == b""  # a stream ends its connection


def test_also_where_its_length_is_known(connection: Connection) -> None:
    body = [ndjson(document) for document in DOCUMENTS]
    connection.socket.sendall(begin(Content_Length=str(len(b"".join(body)))))
    connection.head()
    for line in body:
        connection.socket.sendall(line)
        assert len(lines(connection.chunk())) == 1
    assert connection.chunk() == b""


def test_lines_that_have_arrived_are_answered_together(connection: Connection) -> None:
    """Else a client that sends each line as a chunk would get the speed of single requests."""
    chunks = b"".join(as_chunk(ndjson({"text": "the"})) for _ in range(50))
    connection.socket.sendall(begin() + chunks + b"0\r\n\r\n")
    connection.head()
    pieces = [lines(piece) for piece in iter(connection.chunk, b"")]
    assert sum(map(len, pieces)) == 50
    assert len(pieces) < 10


def test_explained_lines_are_answered_alone(connection: Connection) -> None:
    """Together they would wait for each other, and take memory a hundred times their size."""
    body = ndjson(*[{"text": "the"}] * 5)
    connection.socket.sendall(begin("/tag/batch?explain=true", Content_Length=str(len(body))))
    connection.socket.sendall(body)
    connection.head()
    assert [len(lines(piece)) for piece in iter(connection.chunk, b"")] == [1] * 5


def test_chunks_may_be_cut_anywhere(connection: Connection) -> None:
    sent = begin() + b"".join(as_chunk(ndjson(document)) for document in DOCUMENTS)
    sent += as_chunk(b'{"te') + as_chunk(b'xt": "Jane"}') + b"0;a=b\r\nX-Trailer: 1\r\n\r\n"
    connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for start in range(0, len(sent), 5):
        connection.socket.sendall(sent[start : start + 5])
    connection.head()
    answers = lines(b"".join(iter(connection.chunk, b"")))
    assert [len(answer["spans"]) for answer in answers] == [2, 1, 0, 1, 1]


def test_a_client_of_http_1_0(server: Server) -> None:
    body = ndjson(*DOCUMENTS)
    for keep in ("close", "keep-alive"):
        request = post("/ner/batch", body, Content_Type=NDJSON, Connection=keep)
        with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_S) as client:
            client.sendall(request.replace(b"HTTP/1.1", b"HTTP/1.0", 1))
            received = b"".join(iter(lambda: client.recv(65536), b""))
        head, _, answer = received.partition(b"\r\n\r\n")
        assert b"chunked" not in head
        assert len(lines(answer)) == len(DOCUMENTS)


@pytest.mark.parametrize("end", [b"", b"zz\r\n", as_chunk(b"{}")[:-1]], ids=["none", "size", "cut"])
def test_a_broken_body_ends_in_an_error_line(connection: Connection, end: bytes) -> None:
    connection.socket.sendall(begin() + as_chunk(ndjson(*DOCUMENTS)))
    connection.head()
    received = connection.chunk()
    connection.socket.sendall(as_chunk(f'{{"text": "{MARK}'.encode()) + end)
    connection.socket.shutdown(socket.SHUT_WR)
    *answers, last = lines(received + b"".join(iter(connection.chunk, b"")))
    assert len(answers) == len(DOCUMENTS)
    StreamError.model_validate(last, strict=True, extra="forbid")
    assert last["error"]["type"] == "urn:trellis:problem:incomplete-body"
    assert "index" not in last
    assert connection.file.read() == b""  # closed: where the next request begins, nobody knows


def test_a_body_shorter_than_it_says_ends_in_an_error_line(connection: Connection) -> None:
    connection.socket.sendall(begin(Content_Length="999") + ndjson(*DOCUMENTS))
    connection.socket.shutdown(socket.SHUT_WR)
    connection.head()
    *answers, last = lines(b"".join(iter(connection.chunk, b"")))
    assert len(answers) == len(DOCUMENTS)
    assert last["error"]["type"] == "urn:trellis:problem:incomplete-body"


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that gives up a client soon."""
    log = tmp_path_factory.mktemp("impatient") / "log"
    limits = SERVER_LIMITS | {"TRELLIS_STREAM_TIMEOUT_S": "1", "TRELLIS_MAX_STREAMS": "2"}
    with serving("tests.api.served:app", log, **limits) as server:
        yield server


def is_given_up_as_sender(server: Server) -> bool:
    with Connection(server) as connection:
        connection.socket.sendall(begin() + as_chunk(ndjson(DOCUMENTS[0])) + b"5\r\n{")
        connection.head()
        first, last = lines(b"".join(iter(connection.chunk, b"")))
        assert "spans" in first
        assert last["error"]["type"] == "urn:trellis:problem:request-timeout"
        return connection.file.read() == b""


def test_a_sender_that_stalls_is_given_up(impatient: Server) -> None:
    assert is_given_up_as_sender(impatient)


def test_a_reader_that_stalls_is_given_up(impatient: Server) -> None:
    """It reads nothing, and sends more than all buffers hold."""
    documents = as_chunk(ndjson(*[{"text": "the " * 1000}] * 20))
    with Connection(impatient) as connection:
        connection.socket.sendall(begin())
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            deque(map(connection.socket.sendall, itertools.repeat(documents)), maxlen=0)
    # its place is free again: this server has two
    assert all(is_given_up_as_sender(impatient) for _ in range(3))
    assert "Traceback" not in impatient.log.read_text()
