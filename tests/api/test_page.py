"""The page at `/`: it is served whole, may do nothing but ask its own server, and can be off."""

import re
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from service.api.app import create_app
from service.config import Settings
from tests.api.conftest import ROOT
from tests.api.fakes import rule_registry

WEB = ROOT / "service" / "web"
FILES = sorted(path.name for path in (WEB / "static").iterdir())
TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
PATHS = ["/", *(f"/static/{name}" for name in FILES)]


@pytest.mark.parametrize("path", PATHS)
def test_a_file_is_served(client: FlaskClient, path: str) -> None:
    with client.get(path) as answer:
        assert answer.status_code == 200
        assert answer.mimetype == TYPES.get(path.rpartition(".")[2], "text/html")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        policy = dict(
            part.strip().split(" ", 1)
            for part in answer.headers["Content-Security-Policy"].split(";")
        )
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }


@pytest.mark.parametrize("path", PATHS)
def test_a_browser_asks_whether_it_changed(client: FlaskClient, path: str) -> None:
    with client.get(path) as answer:
        assert answer.headers["Cache-Control"] == "no-cache"
        tag = answer.headers["ETag"]
    with client.get(path, headers={"If-None-Match": tag}) as answer:
        assert answer.status_code == 304
        assert answer.data == b""


def test_head_says_the_same(client: FlaskClient) -> None:
    with client.head("/") as answer:
        assert answer.status_code == 200
        assert answer.data == b""


def _named() -> Iterator[str]:
    """The files that the page and its modules name."""
    document = (WEB / "index.html").read_text(encoding="utf-8")
    yield from re.findall(r'(?:src|href)="static/([^"]+)"', document)
    for script in (WEB / "static").glob("*.js"):
        yield from re.findall(r'from "\./([^"]+)"', script.read_text(encoding="utf-8"))


def test_every_file_is_used_and_there() -> None:
    assert set(_named()) == set(FILES)


def test_nothing_is_inline_or_from_elsewhere() -> None:
    document = (WEB / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script(?![^>]* src=)|<style| style=| on[a-z]+=", document) == []
    for file in WEB.rglob("*.*"):
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert re.findall(r"https?://|//cdn|@import|innerHTML|outerHTML|insertAdjacent", text) == []


@pytest.mark.parametrize("path", ["/static/", "/static/none.js", "/static/../index.html"])
def test_nothing_else_is_there(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.content_type == "application/problem+json"


@pytest.mark.parametrize("path", PATHS)
def test_it_can_be_off(path: str) -> None:
    client = create_app(Settings(demo=False), rule_registry()).test_client()
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json["type"] == "urn:trellis:problem:not-found"
    assert client.post("/tag", json={"text": "the bill"}).status_code == 200
