"""Every answer says which request it is of; a trace goes on; `Server-Timing` has the stages."""

import re
from pathlib import Path

import pytest
import requests
from flask.testing import FlaskClient

from tests.api.conftest import Server, serving
from tests.api.fakes import FAILING_WORD
from tests.api.test_server import TIMEOUT_S, exchange, post

MADE = re.compile(r"[0-9a-f]{32}")
TRACE_ID, SPAN_ID = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE_ID}-{SPAN_ID}-01"


@pytest.mark.parametrize("given", ["a", "7f3c-1.A_b:c/d+e=f@g~", "x" * 128])
def test_a_well_formed_id_is_echoed(client: FlaskClient, given: str) -> None:
    answer = client.post("/tag", json={"text": "a"}, headers={"X-Request-ID": given})
    assert answer.headers.getlist("X-Request-ID") == [given]


@pytest.mark.parametrize("given", [None, "", " ", "x" * 129, "a b", 'a"b', "-a", "é", "a,b"])
def test_else_one_is_made(client: FlaskClient, given: str | None) -> None:
    headers = {} if given is None else {"X-Request-ID": given}
    made = {client.get("/models", headers=headers).headers["X-Request-ID"] for _ in range(2)}
    assert len(made) == 2
    assert all(MADE.fullmatch(each) for each in made)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/tag", {"text": 5}, 422),
        ("POST", "/tag", {"text": FAILING_WORD}, 500),
        ("GET", "/nowhere", None, 404),
        ("DELETE", "/tag", None, 405),
        ("OPTIONS", "/tag", None, 200),
        ("GET", "/livez", None, 200),
        ("GET", "/metrics", None, 200),
        ("GET", "/docs", None, 200),
    ],
)
def test_it_is_on_every_answer(
    client: FlaskClient, method: str, path: str, body: object, status: int
) -> None:
    with client.open(path, method=method, json=body, headers={"X-Request-ID": "mine"}) as answer:
        assert answer.status_code == status
        assert answer.headers["X-Request-ID"] == "mine"


@pytest.mark.parametrize(
    ("request_", "status", "request_id"),
    [
        (b"nonsense\r\n\r\n", 400, MADE),
        (b"GET / HTTP/1.1\r\nX-Request-ID: mine\r\nX: " + b"x" * 9000 + b"\r\n\r\n", 431, MADE),
        (post("/tag", b"", Transfer_Encoding="br", Content_Length=""), 501, MADE),
        (post("/tag", b"{}", X_Request_ID="mine"), 422, re.compile("mine")),
    ],
)
def test_also_where_the_request_never_reached_the_app(
    server: Server, request_: bytes, status: int, request_id: re.Pattern[str]
) -> None:
    answer = exchange(server, request_)
    assert answer.status == status
    assert request_id.fullmatch(answer.headers["x-request-id"])


def test_also_where_it_did_not_arrive(tmp_path: Path) -> None:
    environment = {"TRELLIS_CLIENT_TIMEOUT_S": "1"}
    with serving("tests.api.served:app", tmp_path / "log", **environment) as server:
        unfinished = post("/tag", b"", X_Request_ID="mine", Content_Length="5")
        answer = exchange(server, unfinished)
        assert answer.status == 408
        assert answer.headers["x-request-id"] == "mine"
        found = requests.get(f"{server.url}/metrics", timeout=TIMEOUT_S).text
        assert 'trellis_requests_total{model="",route="none",status="408"} 1.0' in found


def test_the_stages_are_in_the_answer(client: FlaskClient) -> None:
    timing = client.post("/ner", json={"text": "Jane"}).headers["Server-Timing"]
    parts = dict(part.split(";dur=") for part in timing.split(", "))
    assert list(parts) == ["tokenize", "score", "decode", "serialise"]
    assert all(0 <= float(milliseconds) < 60_000 for milliseconds in parts.values())
    assert "Server-Timing" not in client.get("/models").headers


def test_a_trace_goes_on(client: FlaskClient) -> None:
    answer = client.post("/ner", json={"text": "a"}, headers={"traceparent": TRACEPARENT})
    [ours] = re.findall(r'traceparent;desc="(.*)"', answer.headers["Server-Timing"])
    version, trace_id, span_id, flags = ours.split("-")
    assert (version, trace_id, flags) == ("00", TRACE_ID, "01")
    assert re.fullmatch("[0-9a-f]{16}", span_id)
    assert span_id != SPAN_ID


@pytest.mark.parametrize(
    ("traceparent", "is_valid"),
    [
        (TRACEPARENT, True),
        (f"00-{TRACE_ID}-{SPAN_ID}-00", True),
        (f"cc-{TRACE_ID}-{SPAN_ID}-01-what-comes-later", True),
        (f"00-{TRACE_ID}-{SPAN_ID}-01-more", False),
        (f"cc-{TRACE_ID}-{SPAN_ID}-01more", False),
        (f"ff-{TRACE_ID}-{SPAN_ID}-01", False),
        (f"00-{'0' * 32}-{SPAN_ID}-01", False),
        (f"00-{TRACE_ID}-{'0' * 16}-01", False),
        (TRACEPARENT.upper(), False),
        (f"00-{TRACE_ID[1:]}-{SPAN_ID}-01", False),
        (f"{TRACEPARENT},{TRACEPARENT}", False),
        ("", False),
    ],
)
def test_only_a_valid_trace_goes_on(client: FlaskClient, traceparent: str, is_valid: bool) -> None:
    answer = client.get("/models", headers={"traceparent": traceparent})
    assert ("Server-Timing" in answer.headers) == is_valid
