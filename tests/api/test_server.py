"""Behind gunicorn: bodies on the wire, requests that never reach the app, long requests."""

import json
import socket
import threading
from typing import NamedTuple

import pytest
import requests

from tests.api.conftest import SERVER_LIMITS, Server
from tests.api.fakes import FAILING_WORD, SLOW_WORD

MARK = "Zaphod"
MAX_BODY_BYTES = int(SERVER_LIMITS["TRELLIS_MAX_BODY_BYTES"])
TIMEOUT_S = 60


class Answer(NamedTuple):
    """What came back over a socket."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def problem(self) -> dict[str, object]:
        assert self.headers["content-type"] == "application/problem+json"
        problem: dict[str, object] = json.loads(self.body)
        assert problem["status"] == self.status
        assert MARK.encode() not in self.body
        return problem


def exchange(server: Server, request: bytes, *, half_close: bool = False) -> Answer:
    """Send bytes as they are, and read one answer up to the end of the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_S) as connection:
        connection.sendall(request)
        if half_close:
            connection.shutdown(socket.SHUT_WR)
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = received.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    assert len(body) == int(headers["content-length"])
    return Answer(int(status.split()[1]), headers, body)


def post(path: str, body: bytes, **headers: str) -> bytes:
    fields = {
        "Host": "localhost",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
    } | {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{name}: {value}" for name, value in fields.items() if value]
    return "\r\n".join([f"POST {path} HTTP/1.1", *lines, "", ""]).encode() + body


def chunked(path: str, *chunks: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    head = post(path, b"", Content_Length="", Transfer_Encoding="chunked")
    return head + b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + end


def test_a_chunked_body_is_read(server: Server) -> None:
    answer = exchange(server, chunked("/tag", b'{"text"', b': "the bill"}'))
    assert answer.status == 200
    assert [token["text"] for token in json.loads(answer.body)["tokens"]] == ["the", "bill"]


@pytest.mark.parametrize("size", [MAX_BODY_BYTES + 1, 3 * MAX_BODY_BYTES])
def test_a_chunked_body_over_the_limit(server: Server, size: int) -> None:
    body = b'{"text": "a"}'.ljust(size)
    pieces = [body[first : first + 50_000] for first in range(0, size, 50_000)]
    problem = exchange(server, chunked("/tag", *pieces)).problem
    assert (problem["status"], problem["limit"]) == (413, MAX_BODY_BYTES)
    assert str(MAX_BODY_BYTES) in str(problem["detail"])


def test_a_declared_body_over_the_limit(server: Server) -> None:
    body = b'{"text": "a"}'.ljust(MAX_BODY_BYTES + 1)
    problem = exchange(server, post("/tag", body)).problem
    assert (problem["status"], problem["limit"]) == (413, MAX_BODY_BYTES)


def test_a_client_that_sends_it_all_first_reads_the_413(server: Server) -> None:
    """It would fail in sending where the service closed the connection at the limit."""
    answer = exchange(server, post("/tag", b" " * 20_000_000))
    assert answer.problem["status"] == 413


def test_a_body_shorter_than_it_says(server: Server) -> None:
    body = f'{{"text": "{MARK}"}}'.encode()
    request = post("/tag", body, Content_Length=str(len(body) + 5))
    problem = exchange(server, request, half_close=True).problem
    assert problem["type"] == "urn:trellis:problem:incomplete-body"
    assert problem["status"] == 400


@pytest.mark.parametrize(
    "end",
    [b"", b"xyz\r\n", b"5\r\nab", b"2\r\nabcdef\r\n0\r\n\r\n"],
    ids=["no end", "no size", "cut", "overlong"],
)
def test_a_broken_chunked_body(server: Server, end: bytes) -> None:
    request = chunked("/tag", f'{{"text": "{MARK}"}}'.encode(), end=end)
    problem = exchange(server, request, half_close=True).problem
    assert problem["type"] == "urn:trellis:problem:incomplete-body"


def test_no_body(server: Server) -> None:
    problem = exchange(server, post("/tag", b"", Content_Length="")).problem
    assert problem["type"] == "urn:trellis:problem:malformed-json"


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"[" * 200_000, {}, 400),
        (b'{"text":' + b"[" * 100_000 + b"]" * 100_000 + b"}", {}, 400),
        (b'{"text": NaN}', {}, 400),
        (b'\xef\xbb\xbf{"text": "a"}', {}, 400),
        (b'{"text": "\\udddd1975"}', {}, 400),
        (b'{"text": "caf\xe9"}', {}, 400),
        (b"\x1f\x8b\x08", {"Content_Encoding": "gzip"}, 415),
        (b"text=a", {"Content_Type": "application/x-www-form-urlencoded"}, 415),
    ],
    ids=["brackets", "closed", "NaN", "BOM", "surrogate", "latin-1", "gzip", "form"],
)
def test_bodies_that_are_refused(
    server: Server, body: bytes, headers: dict[str, str], status: int
) -> None:
    assert exchange(server, post("/tag", body, **headers)).problem["status"] == status


def test_a_get_with_a_long_text(server: Server) -> None:
    request = f"GET /tag?text={MARK * 2000} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    problem = exchange(server, request).problem
    assert problem["type"] == "urn:trellis:problem:uri-too-long"
    assert str(problem["limit"]) in str(problem["detail"])


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (f"{MARK}\r\n\r\n".encode(), 400),
        (f"GET / HTTP/1.1\r\n{MARK}\r\n\r\n".encode(), 400),
        (f"GET / HTTP/9.9\r\nX: {MARK}\r\n\r\n".encode(), 400),
        (f"GET / HTTP/1.1\r\nX: {MARK * 9000}\r\n\r\n".encode(), 431),
        (post("/tag", f'"{MARK}"'.encode(), Transfer_Encoding="chunked"), 400),
        (post("/tag", f'"{MARK}"'.encode(), Transfer_Encoding="br", Content_Length=""), 501),
        (
            post(
                "/tag",
                b"2\r\n{}\r\n0\r\n\r\n",
                Transfer_Encoding="gzip, chunked",
                Content_Length="",
            ),
            501,
        ),
        (post("/tag", b"", Content_Length=MARK), 400),
    ],
    ids=["line", "header", "version", "long header", "smuggled", "coding", "two", "length"],
)
def test_requests_that_never_reach_the_app(server: Server, request_: bytes, status: int) -> None:
    assert exchange(server, request_).problem["status"] == status


@pytest.mark.parametrize("line", ["GET /livez", "POST /nowhere"])
def test_a_broken_body_that_nobody_read_gets_no_second_answer(server: Server, line: str) -> None:
    head = f"{line} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    exchange(server, head.encode() + b"zz\r\n")  # fails where more than one answer comes


def test_a_connection_lives_on_after_an_error(server: Server) -> None:
    with requests.Session() as session:
        for _ in range(3):
            bad = session.post(f"{server.url}/tag", json={"text": 1}, timeout=TIMEOUT_S)
            good = session.post(f"{server.url}/tag", json={"text": "a"}, timeout=TIMEOUT_S)
            assert (bad.status_code, good.status_code) == (422, 200)
            assert "close" not in bad.headers.get("Connection", "")


def test_probes_answer_while_long_requests_run(server: Server) -> None:
    done: list[int] = []

    def ask() -> None:
        answer = requests.post(f"{server.url}/tag", json={"text": SLOW_WORD}, timeout=TIMEOUT_S)
        done.append(answer.status_code)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        for path in ("/livez", "/readyz"):
            assert requests.get(server.url + path, timeout=TIMEOUT_S).status_code == 200
    assert not done  # all of the probes came before any of the long requests
    server.release.touch()
    for thread in threads:
        thread.join(TIMEOUT_S)
    assert done == [200] * 4


def test_the_log_has_no_text_of_users(server: Server) -> None:
    requests.post(f"{server.url}/tag", json={"text": f"{MARK} {FAILING_WORD}"}, timeout=TIMEOUT_S)
    requests.get(f"{server.url}/{MARK}?text={MARK}", timeout=TIMEOUT_S)
    log = server.log.read_text()
    assert "RuntimeError" in log
    assert MARK not in log
    assert FAILING_WORD not in log
    assert "Traceback" not in log
