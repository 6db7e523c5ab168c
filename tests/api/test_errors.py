"""Every error has one shape: a problem, with its status, without the caller's text."""

import logging
from io import BytesIO
from typing import Any, NamedTuple

import pytest
from flask.testing import FlaskClient

from service.api.answer_schemas import Problem
from tests.api.fakes import FAILING_WORD

MARK = "Zaphod"


class Case(NamedTuple):
    """A request that fails, and what is said of it."""

    status: int
    kind: str
    path: str = "/ner"
    body: Any = None
    pointer: str | None = None
    says: str = ""
    method: str = "POST"
    headers: dict[str, str] = {}  # noqa: RUF012  # never changed


def invalid(path: str, body: object, pointer: str, says: str = "") -> Case:
    return Case(422, "invalid-request", path, body, pointer, says)


def malformed(body: bytes, says: str = "line 1") -> Case:
    return Case(400, "malformed-json", "/tag", body, says=says)


CASES = {
    "empty body": malformed(b""),
    "no json": malformed(f"{MARK}".encode()),
    "cut short": malformed(f'{{"text": "{MARK}'.encode()),
    "two values": malformed(f'{{"text": "a"}} {MARK}'.encode()),
    "NaN": malformed(b'{"text": NaN}'),
    "infinity": malformed(b'{"text": 1e999}'),
    "byte-order mark": malformed(f'\ufeff{{"text": "{MARK}"}}'.encode()),
    "UTF-16": malformed(f'{{"text": "{MARK}"}}'.encode("utf-16"), "UTF-8, at byte 0"),
    "lone surrogate": malformed(f'{{"text": "{MARK} \\udddd1975"}}'.encode()),
    "lone surrogate bytes": malformed(b'{"text": "\xed\xa0\x80"}', "UTF-8, at byte 10"),
    "invalid UTF-8": malformed(b'{"text": "caf\xe9"}', "UTF-8, at byte 13"),
    "control character": malformed(b'{"text": "a\nb"}'),
    "nested": malformed(b'{"text": ' + b"[" * 1025 + b"]" * 1025 + b"}", "depth"),
    "deep": malformed(b"[" * 90_000, "depth"),
    "no object": invalid("/ner", [MARK], ""),
    "no fields": invalid("/ner", {}, "", "exactly one"),
    "null": invalid("/ner", {"text": None}, "", "exactly one"),
    "both": invalid("/ner", {"text": MARK, "tokens": [[MARK]]}, "", "exactly one"),
    "text of a wrong type": invalid("/ner", {"text": 5}, "/text"),
    "text is a list": invalid("/ner", {"text": [MARK]}, "/text"),
    "flat tokens": invalid("/ner", {"tokens": [MARK]}, "/tokens/0"),
    "a word is a number": invalid("/ner", {"tokens": [["a"], ["b", 1]]}, "/tokens/1/1"),
    "an empty word": invalid("/ner", {"tokens": [["a", "b", "c", ""]]}, "/tokens/0/3", "blank"),
    "a blank word": invalid("/ner", {"tokens": [["a"], ["\x85\u2028"]]}, "/tokens/1/0", "blank"),
    "unknown field": invalid("/ner", {"text": MARK, "lang": MARK}, "/lang"),
    "unknown field of a long name": invalid("/ner", {MARK * 500: 1}, ""),
    "escaped field": invalid("/ner", {"text": MARK, "a/b~c": MARK}, "/a~1b~0c"),
    "fields": invalid("/ner", {"text": MARK} | dict.fromkeys("abcdefghijkl", MARK), "/a"),
    "labels for tag": invalid("/tag", {"text": MARK, "labels": []}, "/labels"),
    "tagset for ner": invalid("/ner", {"text": MARK, "tagset": "ptb"}, "/tagset"),
    "unknown tagset": invalid("/tag", {"text": MARK, "tagset": MARK}, "/tagset", "'ptb' or 'ud'"),
    "unknown unit": invalid("/tag", {"text": MARK, "offset_unit": MARK}, "/offset_unit", "utf16"),
    "model of ner": invalid("/tag", {"text": MARK, "model": "en-ner-crf"}, "/model", "/ner"),
    "model of tag": invalid("/ner", {"text": MARK, "model": "en-pos-crf"}, "/model", "/tag"),
    "other tagset": invalid(
        "/tag", {"text": MARK, "model": "en-upos-crf", "tagset": "ptb"}, "/tagset", "ud"
    ),
    "unknown label": invalid(
        "/ner", {"text": MARK, "labels": ["PER", MARK]}, "/labels/1", "LOC, ORG, PER"
    ),
    "BIO tag as label": invalid("/ner", {"text": MARK, "labels": ["B-PER"]}, "/labels/0"),
    "label is a number": invalid("/ner", {"text": MARK, "labels": [1]}, "/labels/0"),
    "batch is a list": invalid("/ner/batch", [{"text": MARK}], ""),
    "no documents": invalid("/ner/batch", {}, "/documents"),
    "documents is an object": invalid("/ner/batch", {"documents": {}}, "/documents"),
    "text in the envelope": invalid("/tag/batch", {"documents": [], "text": MARK}, "/text"),
    "model in a batch": invalid("/tag/batch", {"documents": [], "model": 1}, "/model"),
    "unknown model": Case(
        404, "model-not-found", body={"text": MARK, "model": MARK}, says="en-upos-crf"
    ),
    "unknown described model": Case(
        404, "model-not-found", f"/models/{MARK}", says="en-upos-crf", method="GET"
    ),
    "model of another task that is not loaded": invalid(
        "/ner", {"text": MARK, "model": "en-pos-hmm"}, "/model", "/tag"
    ),
    "host": Case(
        400, "malformed-request", "/livez", method="GET", headers={"Host": "." + "x" * 99}
    ),
    "model that is not loaded": Case(
        409,
        "model-not-loaded",
        "/tag",
        {"text": MARK, "model": "en-pos-hmm"},
        says="TRELLIS_MODELS",
    ),
    "long text": Case(
        413, "limit-exceeded", body={"text": MARK * 200}, pointer="/text", says="1000"
    ),
    "many words": Case(
        413, "limit-exceeded", body={"tokens": [[MARK] * 200]}, pointer="/tokens", says="1000"
    ),
    "many documents": Case(
        413,
        "limit-exceeded",
        "/tag/batch",
        {"documents": [{"text": MARK}] * 11},
        pointer="/documents",
        says="10 documents",
    ),
    "large body": Case(413, "limit-exceeded", body={"text": MARK * 20_000}, says="100000 bytes"),
    "form": Case(
        415,
        "unsupported-media-type",
        body=f"text={MARK}".encode(),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    ),
    "no media type": Case(
        415,
        "unsupported-media-type",
        body=f'{{"text":"{MARK}"}}'.encode(),
        headers={"Content-Type": ""},
    ),
    "charset": Case(
        415,
        "unsupported-media-type",
        body=f'{{"text":"{MARK}"}}'.encode(),
        headers={"Content-Type": "application/json; charset=latin-1"},
    ),
    "gzip": Case(
        415, "unsupported-encoding", body=b"\x1f\x8b", headers={"Content-Encoding": "gzip"}
    ),
    "failing model": Case(500, "internal-error", body={"text": f"{MARK} {FAILING_WORD}"}),
    "GET": Case(405, "method-not-allowed", f"/tag?text={MARK}", method="GET", says="POST"),
    "DELETE": Case(405, "method-not-allowed", "/models", method="DELETE", says="GET"),
    "POST": Case(405, "method-not-allowed", "/livez", body={"text": MARK}, says="GET"),
    "POST docs": Case(405, "method-not-allowed", "/docs", body={"text": MARK}, says="GET"),
    "odd method": Case(405, "method-not-allowed", "/ner", method="BREW", says="POST"),
    "unknown path": Case(404, "not-found", f"/{MARK}", body={"text": MARK}),
    "other spelling": Case(404, "not-found", "//tag", body={"text": MARK}),
    "below a path": Case(404, "not-found", "/tag/batch/x", body={"text": MARK}),
    "no such page": Case(404, "not-found", f"/docs/{MARK}.html", method="GET"),
    "out of the pages": Case(404, "not-found", "/docs/../LICENSE", method="GET"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_error_shape(client: FlaskClient, caplog: pytest.LogCaptureFixture, case: Case) -> None:
    headers = {"Content-Type": "application/json"} | case.headers
    content = {"data": case.body} if isinstance(case.body, bytes) else {"json": case.body}
    if case.body is None:
        content = {}
    with caplog.at_level(logging.DEBUG):
        answer = client.open(case.path, method=case.method, headers=headers, **content)
    assert answer.status_code == case.status
    assert answer.content_type == "application/problem+json"
    problem = answer.json
    Problem.model_validate(problem, strict=True, extra="forbid")
    assert problem["type"] == f"urn:trellis:problem:{case.kind}"
    assert problem["status"] == case.status
    assert problem["title"]
    assert case.says in problem["detail"]
    if case.pointer is not None:
        assert problem["pointer"] == case.pointer
    if case.status == 413:
        assert str(problem["limit"]) in problem["detail"]
    assert ("Allow" in answer.headers) == (case.status == 405)
    for written in (answer.text, caplog.text):
        assert MARK not in written
        assert FAILING_WORD not in written
        assert "html" not in written.lower()


def test_405_names_the_methods(client: FlaskClient) -> None:
    answer = client.get("/tag")
    assert set(answer.headers["Allow"].split(", ")) == {"OPTIONS", "POST"}
    assert answer.json["allowed"] == ["OPTIONS", "POST"]


def test_what_is_known_is_listed(client: FlaskClient) -> None:
    unknown = client.post("/ner", json={"text": "a", "labels": ["X"]}).json
    assert unknown["known"] == ["LOC", "ORG", "PER"]
    missing = client.post("/ner", json={"text": "a", "model": "x"}).json
    assert missing["known"] == ["en-ner-crf", "en-pos-crf", "en-pos-hmm", "en-upos-crf"]


def test_an_unexpected_error_is_logged_by_type_and_place(
    client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    client.post("/ner", json={"text": FAILING_WORD})
    assert "RuntimeError" in caplog.text
    assert "fakes.py:" in caplog.text
    assert "the text of a user" not in caplog.text


def test_a_body_of_just_the_limit_is_read(client: FlaskClient) -> None:
    body = b'{"text": "a"}'.ljust(100_000)
    for length, status in ((100_000, 200), (100_001, 413)):
        whole = {"data": body.ljust(length)}
        chunked = {
            "input_stream": BytesIO(body.ljust(length)),
            "headers": {"Transfer-Encoding": "chunked"},
            "environ_overrides": {"wsgi.input_terminated": True},
        }
        for content in (whole, chunked):
            answer = client.post("/tag", content_type="application/json", **content)
            assert answer.status_code == status


def test_depth_of_just_the_limit_is_parsed(client: FlaskClient) -> None:
    body = b'{"text": ' + b"[" * 1023 + b"]" * 1023 + b"}"
    answer = client.post("/tag", data=body, content_type="application/json")
    assert (answer.status_code, answer.json["pointer"]) == (422, "/text")
