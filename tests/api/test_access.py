"""API keys and origins: who has none is told so, and what monitors ask is free."""

import hashlib
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from service.api.access import read_hashes
from service.api.app import create_app
from service.client import ProblemError, TrellisClient
from service.config import Settings
from service.errors import SettingError
from tests.api.conftest import serving
from tests.api.fakes import rule_registry

KEYS = ("first-key", "second-key")
PAGE = "https://page.example"


def write_keys(folder: Path, *keys: str) -> Path:
    file = folder / "keys"
    hashes = [hashlib.sha256(key.encode()).hexdigest() for key in keys]
    file.write_text("# whose they are\n\n" + "".join(f"{each}  -\n" for each in hashes))
    return file


@pytest.fixture
def guarded(tmp_path: Path) -> FlaskClient:
    settings = Settings(api_keys_file=write_keys(tmp_path, *KEYS), cors_origins=f"{PAGE}, http://b")
    return create_app(settings, rule_registry()).test_client()


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "form", ["Authorization: Bearer {}", "authorization: bearer  {}", "X-API-Key: {}"]
)
def test_a_key_lets_in(guarded: FlaskClient, key: str, form: str) -> None:
    headers = dict([form.format(key).split(": ", 1)])
    assert guarded.post("/tag", json={"text": "a"}, headers=headers).status_code == 200
    assert guarded.get("/models", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer"},
        {"Authorization": f"Basic {KEYS[0]}"},
        {"Authorization": KEYS[0]},
        {"X-API-Key": KEYS[0].upper()},
        {"X-API-Key": hashlib.sha256(KEYS[0].encode()).hexdigest()},
        {"X-API-Key": "ключ".encode().decode("latin-1")},
        {"X-API-Key": ""},
    ],
)
@pytest.mark.parametrize("path", ["/tag", "/ner/batch", "/compat/huggingface", "/nowhere"])
def test_without_one_nothing_is_tagged(
    guarded: FlaskClient, path: str, headers: dict[str, str]
) -> None:
    answer = guarded.post(path, json={"text": "a"}, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert answer.content_type == "application/problem+json"
    assert b"first" not in answer.data
    assert guarded.get("/models").status_code == 401


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/static/page.css", "/livez", "/readyz", "/health", "/version", "/openapi.json"),
        *("/docs", "/docs/swagger-ui.css"),
    ],
)
def test_state_and_pages_are_free(guarded: FlaskClient, path: str) -> None:
    with guarded.get(path) as answer:
        assert answer.status_code == 200


def test_without_a_file_no_key_is_needed(client: FlaskClient) -> None:
    answer = client.post("/tag", json={"text": "a"}, headers={"Origin": PAGE})
    assert answer.status_code == 200
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize(
    "content", [b"", b"# none\n", b"first-key\n", b"\xff\n", b"0" * 63 + b"\n", b"0" * 65 + b"\n"]
)
def test_a_file_that_cannot_be_used(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "keys"
    file.write_bytes(content)
    with pytest.raises(SettingError, match="TRELLIS_API_KEYS_FILE") as caught:
        read_hashes(file)
    assert "first-key" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="FileNotFoundError"):
        read_hashes(tmp_path / "keys")


def test_the_client_bears_a_key(tmp_path: Path) -> None:
    keys = str(write_keys(tmp_path, *KEYS))
    with serving("tests.api.served:app", tmp_path / "log", TRELLIS_API_KEYS_FILE=keys) as server:
        with TrellisClient(server.url, api_key=KEYS[1]) as trellis:
            assert len(trellis.tag(text="the bill")["tokens"]) == 2
            assert len(list(trellis.tag_stream([{"text": "the bill"}]))) == 1
        with TrellisClient(server.url) as trellis:
            assert trellis.ready()
            with pytest.raises(ProblemError, match="401"):
                trellis.tag(text="the bill")
            with pytest.raises(ProblemError, match="401"):
                list(trellis.tag_stream([{"text": "the bill"}]))
        assert KEYS[1] not in server.log.read_text()


def test_pages_of_the_origins_may_ask(guarded: FlaskClient) -> None:
    preflight = guarded.options(
        "/tag", headers={"Origin": PAGE, "Access-Control-Request-Method": "POST"}
    )
    assert preflight.status_code == 200
    assert preflight.headers["Access-Control-Allow-Origin"] == PAGE
    assert "Authorization" in preflight.headers["Access-Control-Allow-Headers"]
    assert "POST" in preflight.headers["Access-Control-Allow-Methods"]
    for headers, status in (({"X-API-Key": KEYS[0]}, 200), ({}, 401)):
        answer = guarded.post("/tag", json={"text": "a"}, headers={"Origin": PAGE, **headers})
        assert answer.status_code == status
        assert answer.headers["Access-Control-Allow-Origin"] == PAGE
        assert "Origin" in answer.headers["Vary"]


@pytest.mark.parametrize("origin", ["https://other.example", f"{PAGE}.evil", "null", ""])
def test_others_may_not(guarded: FlaskClient, origin: str) -> None:
    for answer in (
        guarded.options("/tag", headers={"Origin": origin}),
        guarded.post("/tag", json={"text": "a"}, headers={"Origin": origin}),
    ):
        assert "Access-Control-Allow-Origin" not in answer.headers
        assert "Origin" in answer.headers["Vary"]


def test_all_may_where_that_is_said() -> None:
    app = create_app(Settings(cors_origins="*"), rule_registry())
    answer = app.test_client().post("/tag", json={"text": "a"}, headers={"Origin": PAGE})
    assert answer.headers["Access-Control-Allow-Origin"] == PAGE
