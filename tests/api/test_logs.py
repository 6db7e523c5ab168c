"""The log: a line of JSON a request, none of a probe, and never what a user sent as text."""

import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import requests
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from documentation.blocks import blocks
from service.api.app import create_app
from service.api.monitoring.logs import JsonFormatter
from service.config import Settings
from tests.api.conftest import ROOT, serving
from tests.api.fakes import FAILING_WORD, rule_registry
from tests.api.test_request_ids import TRACE_ID, TRACEPARENT
from tests.api.test_server import TIMEOUT_S, exchange

STREAM = {"Content-Type": "application/x-ndjson"}
WORDS = st.text(st.characters(min_codepoint=0x100, categories=["L", "N", "S"]), min_size=1)


def lines(capfd: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capfd.readouterr().out.splitlines()]


def test_a_request_is_a_line(client: FlaskClient, capfd: pytest.CaptureFixture[str]) -> None:
    headers = {"X-Request-ID": "mine", "traceparent": TRACEPARENT}
    client.post("/ner", json={"text": "Jane met 📷"}, headers=headers)
    [line] = lines(capfd)
    assert datetime.fromisoformat(str(line.pop("time"))).utcoffset() is not None
    stages = line.pop("stages_ms")
    assert isinstance(stages, dict)
    assert list(stages) == ["tokenize", "score", "decode", "serialise"]
    duration_ms = line.pop("duration_ms")
    assert isinstance(duration_ms, float)
    assert 0 < sum(stages.values()) <= duration_ms + 0.002  # each is rounded
    assert len(str(line.pop("span_id"))) == 16
    assert line == {
        "level": "INFO",
        "event": "request",
        "request_id": "mine",
        "trace_id": TRACE_ID,
        "method": "POST",
        "route": "/ner",
        "status": 200,
        "model": "en-ner-crf",
        "documents": 1,
        "characters": 10,
        "tokens": 3,
    }


def test_a_line_has_the_members_that_the_docs_show(
    client: FlaskClient, capfd: pytest.CaptureFixture[str]
) -> None:
    client.post("/ner", json={"text": "Jane"})
    [line] = lines(capfd)
    page = (ROOT / "docs" / "monitoring.md").read_text(encoding="utf-8")
    [shown] = [json.loads(b.text) for b in blocks(page) if b.reason == "a line of the log"]
    assert list(shown) == list(line)
    assert list(shown["stages_ms"]) == list(line["stages_ms"])


def test_an_error_is_a_line_that_says_which(
    client: FlaskClient, capfd: pytest.CaptureFixture[str]
) -> None:
    client.post("/tag", json={"text": 5})
    client.get("/nowhere?text=Zaphod")
    client.post("/tag", json={"text": FAILING_WORD})
    found = [
        (line["route"], line["status"], line["problem"], line["level"]) for line in lines(capfd)
    ]
    assert found == [
        ("/tag", 422, "invalid-request", "INFO"),
        ("none", 404, "not-found", "INFO"),
        ("/tag", 500, "internal-error", "ERROR"),
    ]


def test_a_stream_is_a_line_at_its_end(
    client: FlaskClient, capfd: pytest.CaptureFixture[str]
) -> None:
    body = '{"text": "the bill"}\n' * 3
    answer = client.post("/tag/batch", data=body, headers=STREAM, buffered=False)
    assert lines(capfd) == []
    assert len(answer.data.splitlines()) == 3
    answer.close()
    [line] = lines(capfd)
    assert (line["documents"], line["tokens"], line["status"]) == (3, 6, 200)


def test_probes_are_no_lines(client: FlaskClient, capfd: pytest.CaptureFixture[str]) -> None:
    for path in ("/livez", "/readyz", "/health", "/metrics"):
        client.get(path)
    assert lines(capfd) == []


def test_lines_of_requests_can_be_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    client = create_app(Settings(log_requests=False), rule_registry()).test_client()
    assert client.post("/tag", json={"text": "a"}).status_code == 200
    assert lines(capfd) == []


@contextmanager
def logged(file: Path) -> Iterator[None]:
    """Have all that this process logs and prints stand in a file."""
    kept = os.dup(1), os.dup(2)
    with file.open("w", encoding="utf-8") as stream:
        handler = logging.StreamHandler(stream)
        handler.setFormatter(JsonFormatter())
        logging.root.addHandler(handler)
        for number in (1, 2):
            os.dup2(stream.fileno(), number)
        try:
            yield
        finally:
            logging.root.removeHandler(handler)
            for number, before in zip((1, 2), kept, strict=True):
                os.dup2(before, number)
                os.close(before)


@given(words=st.lists(WORDS, min_size=1, max_size=4), fails=st.booleans())
def test_no_part_of_a_text_is_ever_in_the_log(
    app: Flask, tmp_path_factory: pytest.TempPathFactory, words: list[str], fails: bool
) -> None:
    """Texts are of characters that no log has otherwise, and of one word."""
    client, log = app.test_client(), tmp_path_factory.mktemp("logged") / "log"
    words = [*words, "Zaphod", *([FAILING_WORD] if fails else [])]
    text = " ".join(words)
    with logged(log):
        client.post("/ner", json={"text": text, "marginals": True})
        client.post("/tag", json={"tokens": [words]})
        client.post("/ner/batch", json={"documents": [{"text": text}, {"text": words}]})
        line = json.dumps({"text": text})
        client.post("/ner/batch", data=f"{line}\n{text}\n", headers=STREAM, buffered=True)
        client.post("/ner", json={"text": text, "labels": [text], text: text})
        client.post("/tag", json={"text": text, "model": text})
        client.post("/compat/huggingface", json={"inputs": text})
        client.post("/tag", data=text, content_type="application/json")
        client.post("/tag", query_string={"text": text}, json={"text": text})
        client.post(f"/{text}", json={"text": text})
    found = log.read_text(encoding="utf-8")
    assert found.count('"event":"request"') == 10
    assert found.isascii()
    for trace in ("Zaphod", FAILING_WORD, "\\", "%"):  # the last two would hide characters
        assert trace not in found


def test_what_happens_beside_requests_is_json_too(tmp_path: Path) -> None:
    with serving("tests.api.served:app", tmp_path / "log") as server:
        headers = {"X-Request-ID": "mine"}
        for text in ("the bill", f"Zaphod {FAILING_WORD}"):
            requests.post(
                f"{server.url}/tag", json={"text": text}, headers=headers, timeout=TIMEOUT_S
            )
        exchange(server, b"GET / HTTP/1.1\r\nZaphod\r\n\r\n")
    text = (tmp_path / "log").read_text()
    found = [json.loads(line) for line in text.splitlines()]
    assert "Zaphod" not in text
    asked = [(line["route"], line["status"]) for line in found if line["event"] == "request"]
    assert asked == [("/tag", 200), ("/tag", 500), ("none", 400)]
    [unexpected] = [line for line in found if "unexpected RuntimeError" in line.get("message", "")]
    assert (unexpected["level"], unexpected["request_id"]) == ("ERROR", "mine")
    assert any("Booting worker" in line.get("message", "") for line in found)


def test_an_exception_in_the_log_has_no_message() -> None:
    try:
        raise ValueError("Zaphod")
    except ValueError:
        record = logging.LogRecord(
            "gunicorn.error", logging.ERROR, __file__, 1, "at %s", ("/tag?Zaphod",), sys.exc_info()
        )
    line = json.loads(JsonFormatter().format(record))
    assert "Zaphod" not in json.dumps(line)
    assert (line["message"], line["exception"]) == ("at %s", "ValueError")
    assert line["places"][0].startswith(__file__)
