"""Clients that send half a request, or take no end of one: they stop nobody, and are given up."""

import itertools
import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
import requests

from tests.api.conftest import SERVER_LIMITS, Server, serving
from tests.api.test_server import MAX_BODY_BYTES, TIMEOUT_S, chunked, exchange, post

CLIENTS = 100
BODY = b'{"text": "the bill"}'
CUT = {
    "nothing": b"",
    "half a request line": b"POST /ta",
    "half a head": post("/tag", b"").removesuffix(b"\r\n"),
    "half a body": post("/tag", BODY)[:-1],
    "half a chunk": chunked("/tag", BODY, end=b"")[:-3],
    "no last chunk": chunked("/tag", BODY, end=b""),
    "half the trailers": chunked("/tag", BODY, end=b"0\r\nA: b\r\n"),
}


def connect(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_S)


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that waits for an hour: what answers has not waited for others."""
    log = tmp_path_factory.mktemp("patient") / "log"
    limits = SERVER_LIMITS | {"TRELLIS_CLIENT_TIMEOUT_S": "3600", "TRELLIS_MAX_RUNNING": "2"}
    with serving("tests.api.served:app", log, **limits) as server:
        yield server


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("impatient") / "log"
    limits = SERVER_LIMITS | {"TRELLIS_CLIENT_TIMEOUT_S": "1"}
    with serving("tests.api.served:app", log, **limits) as server:
        yield server


@pytest.mark.parametrize("cut", CUT.values(), ids=CUT)
def test_they_do_not_stop_others(patient: Server, cut: bytes) -> None:
    with ExitStack() as stack:
        for _ in range(CLIENTS):
            client = stack.enter_context(connect(patient))
            client.sendall(cut)
        for _ in range(3):
            assert requests.get(f"{patient.url}/livez", timeout=TIMEOUT_S).status_code == 200
            assert exchange(patient, post("/tag", BODY)).status == 200


def test_neither_do_those_that_never_close(patient: Server) -> None:
    with ExitStack() as stack:
        for _ in range(CLIENTS):
            client = stack.enter_context(connect(patient))
            client.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            assert client.recv(4096).startswith(b"HTTP/1.1 200 ")
        assert requests.get(f"{patient.url}/livez", timeout=TIMEOUT_S).status_code == 200


@pytest.mark.parametrize("cut", list(CUT.values())[1:], ids=list(CUT)[1:])
def test_they_are_told_that_it_took_too_long(impatient: Server, cut: bytes) -> None:
    problem = exchange(impatient, cut).problem
    assert problem["type"] == "urn:trellis:problem:request-timeout"
    assert problem["status"] == 408


def test_a_client_that_never_says_anything_hears_nothing(impatient: Server) -> None:
    with connect(impatient) as client:
        assert client.recv(4096) == b""


def test_a_connection_may_rest_for_longer_between_requests(impatient: Server) -> None:
    with connect(impatient) as client:
        for _ in range(2):
            client.sendall(b"HEAD /livez HTTP/1.1\r\nHost: a\r\n\r\n")
            assert client.recv(65536).startswith(b"HTTP/1.1 200 ")
            time.sleep(1.5)
        client.sendall(b"HEAD ")
        assert client.recv(65536).startswith(b"HTTP/1.1 408 ")


def trickle(client: socket.socket, data: bytes) -> None:
    for byte in itertools.chain(data, itertools.repeat(32)):
        client.sendall(bytes([byte]))
        time.sleep(0.005)


def test_a_trickle_is_no_way_out(impatient: Server) -> None:
    request = post("/tag", b"", Content_Length="100000")
    with connect(impatient) as client, pytest.raises((BrokenPipeError, ConnectionResetError)):
        trickle(client, request)


def test_requests_that_come_together_are_answered_in_order(patient: Server) -> None:
    texts = ["one", "two three", "four"]
    bodies = [json.dumps({"text": text}).encode() for text in texts]
    keep = {"Connection": "keep-alive"}
    with connect(patient) as client:
        client.sendall(
            post("/tag", bodies[0], **keep)
            + chunked("/tag", bodies[1]).replace(b"Connection: close\r\n", b"")
            + post("/tag", bodies[2])
        )
        received = b"".join(iter(lambda: client.recv(65536), b""))
    answers = [part.partition(b"\r\n\r\n")[2] for part in received.split(b"HTTP/1.1 200 OK")[1:]]
    words = [[token["text"] for token in json.loads(answer)["tokens"]] for answer in answers]
    assert words == [text.split() for text in texts]


def test_many_small_chunks(patient: Server) -> None:
    body = json.dumps({"text": "the bill " * 10_000}).encode()
    pieces = [body[at : at + 1] for at in range(len(body))]
    answer = exchange(patient, chunked("/tag", *pieces))
    assert len(json.loads(answer.body)["tokens"]) == 20_000


@pytest.mark.parametrize("coding", ["length", "chunked"])
def test_a_client_that_waits_to_be_asked_for_the_body(patient: Server, coding: str) -> None:
    request = post("/tag", BODY, Expect="100-continue")
    if coding == "chunked":
        request = chunked("/tag", BODY).replace(b"\r\n", b"\r\nExpect: 100-continue\r\n", 1)
    head, separator, body = request.partition(b"\r\n\r\n")
    with connect(patient) as client:
        client.sendall(head + separator)
        assert client.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(body)
        assert client.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_a_body_over_the_limit_is_not_asked_for(patient: Server) -> None:
    size = str(MAX_BODY_BYTES + 1)
    with connect(patient) as client:
        client.sendall(post("/tag", b"", Expect="100-continue", Content_Length=size))
        received = b"".join(iter(lambda: client.recv(65536), b""))
    assert received.startswith(b"HTTP/1.1 413 ")


def test_bodies_that_are_waiting_have_a_bound(patient: Server) -> None:
    """Two may run: memory for two of the largest bodies. Small requests always have some."""
    large = post("/tag", BODY.ljust(MAX_BODY_BYTES))
    with ExitStack() as stack:
        waiting = [stack.enter_context(connect(patient)) for _ in range(2)]
        for client in waiting:
            client.sendall(large[:-1])
        for _ in range(20):  # by then they have been received
            requests.get(f"{patient.url}/livez", timeout=TIMEOUT_S)
        with connect(patient) as client:
            client.sendall(large[:-1])
            answer = client.recv(65536)
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert b"Retry-After: 1\r\n" in answer
            assert b"urn:trellis:problem:overloaded" in answer
        assert exchange(patient, post("/tag", BODY)).status == 200
        for client in waiting:
            client.sendall(large[-1:])
            assert client.recv(65536).startswith(b"HTTP/1.1 200 ")
    assert exchange(patient, large).status == 200  # what they held is free again


def test_a_head_that_never_ends(patient: Server) -> None:
    with connect(patient) as client:
        client.sendall(b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20_000)
        assert client.recv(65536).startswith(b"HTTP/1.1 431 ")


def test_a_worker_that_only_waits_is_known_to_live(tmp_path: Path) -> None:
    limits = SERVER_LIMITS | {"GUNICORN_CMD_ARGS": "--timeout 2"}
    with serving("tests.api.served:app", tmp_path / "log", **limits) as server:
        end = time.monotonic() + 5
        while time.monotonic() < end:
            assert requests.get(f"{server.url}/livez", timeout=TIMEOUT_S).ok
        assert b"WORKER TIMEOUT" not in server.log.read_bytes()


def test_a_stop_answers_what_has_come_in_part(tmp_path: Path) -> None:
    """Also where the rest comes after the stop has begun; who has sent nothing is let go."""
    request = post("/tag", BODY)
    limits = SERVER_LIMITS | {"TRELLIS_CLIENT_TIMEOUT_S": "3600"}
    with (
        serving("tests.api.served:app", tmp_path / "log", **limits) as server,
        connect(server) as begun,
        connect(server) as idle,
    ):
        begun.sendall(request[:-1])
        assert requests.get(f"{server.url}/livez", timeout=TIMEOUT_S).ok  # both are accepted
        server.process.terminate()
        while b"Handling signal: term" not in server.log.read_bytes():
            time.sleep(0.05)
        begun.sendall(request[-1:])
        received = b"".join(iter(lambda: begun.recv(65536), b""))
        assert received.startswith(b"HTTP/1.1 200 ")
        assert idle.recv(1) == b""


# Its answer has more megabytes than the kernel's buffers.
LARGE = post("/tag/batch", json.dumps({"documents": [{"text": "a " * 48_000}] * 3}).encode())


def takes_nothing(server: Server, stack: ExitStack) -> socket.socket:
    """A client that has asked for more than the buffers between hold."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(TIMEOUT_S)
    client.connect(("127.0.0.1", server.port))
    stack.enter_context(client)
    client.sendall(LARGE)
    return client


def test_clients_that_take_no_end_of_an_answer_do_not_stop_others(tmp_path: Path) -> None:
    limits = SERVER_LIMITS | {
        "TRELLIS_CLIENT_TIMEOUT_S": "3600",
        "TRELLIS_MAX_BODY_BYTES": "50000000",  # memory for all these answers
        "TRELLIS_MAX_WAITING": "0",
    }
    with (
        serving("tests.api.served:app", tmp_path / "log", **limits) as server,
        ExitStack() as stack,
    ):
        clients = []
        for _ in range(20):
            clients.append(takes_nothing(server, stack))
            assert clients[-1].recv(1) == b"H"  # its answer is there
        assert requests.get(f"{server.url}/livez", timeout=TIMEOUT_S).status_code == 200
        assert exchange(server, post("/tag", BODY)).status == 200
        # and one that takes it at last has all of it
        with clients[-1].makefile("rb") as answer:
            head, _, body = answer.read().partition(b"\r\n\r\n")
        assert head.startswith(b"TTP/1.1 200 ")
        assert [len(each["tokens"]) for each in json.loads(body)["documents"]] == [48_000] * 3


@pytest.mark.parametrize("server_", ["impatient", "patient"])
def test_and_are_given_up(server_: str, request: pytest.FixtureRequest) -> None:
    """The impatient server soon does so, and the patient one where memory for answers is short."""
    server: Server = request.getfixturevalue(server_)
    with ExitStack() as stack:
        client = takes_nothing(server, stack)
        assert client.recv(1) == b"H"
        assert exchange(server, post("/tag", BODY)).status == 200  # there is memory for small ones
        time.sleep(4)
        with client.makefile("rb") as answer, suppress(ConnectionResetError):
            head, _, body = answer.read().partition(b"\r\n\r\n")
            [length] = re.findall(rb"Content-Length: (\d+)", head)
            assert len(body) < int(length)
    assert exchange(server, post("/tag", BODY.ljust(100_000))).status == 200
