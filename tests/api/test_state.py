"""What monitors and the curious ask: probes, models, versions, the document and its page."""

import re
from typing import Any

import pytest
from flask.testing import FlaskClient
from openapi_spec_validator import OpenAPIV31SpecValidator

from service import __version__
from service.api import answer_schemas, problems
from service.api.app import create_app
from service.config import Settings
from tests.api.fakes import FAILING_WORD, rule_registry

GETS = (
    "/livez",
    "/readyz",
    "/health",
    "/version",
    "/models",
    "/models/en-ner-crf",
    "/openapi.json",
    "/docs",
    "/docs/swagger-ui.css",
)
POSTS = ("/tag", "/ner", "/tag/batch", "/ner/batch", "/compat/huggingface")


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("/livez", answer_schemas.StatusAnswer),
        ("/readyz", answer_schemas.StatusAnswer),
        ("/health", answer_schemas.HealthAnswer),
        ("/version", answer_schemas.VersionAnswer),
        ("/models", answer_schemas.ModelsAnswer),
        ("/models/en-pos-hmm", answer_schemas.ModelDescription),
    ],
)
def test_answers_are_as_the_schemas_say(client: FlaskClient, path: str, schema: Any) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.content_type) == (200, "application/json")
    schema.model_validate_json(answer.data, strict=True, extra="forbid")


def test_models_say_what_is_loaded_and_default(client: FlaskClient) -> None:
    models = client.get("/models").json["models"]
    assert [(model["name"], model["loaded"], model["default"]) for model in models] == [
        ("en-ner-crf", True, True),
        ("en-pos-crf", True, True),
        ("en-pos-hmm", False, False),
        ("en-upos-crf", True, True),
    ]
    assert client.get("/models/en-pos-hmm").json == models[2]


def test_health_names_version_and_models(client: FlaskClient) -> None:
    health = client.get("/health").json
    assert (health["status"], health["version"]) == ("ok", __version__)
    assert health["models"][2] == {"name": "en-pos-hmm", "version": "1.0.0", "loaded": False}


def test_not_ready_without_a_model(settings: Settings) -> None:
    registry = rule_registry(unloaded=tuple(rule_registry().manifests))
    client = create_app(settings, registry).test_client()
    assert client.get("/livez").status_code == 200
    for path in ("/readyz", "/health"):
        answer = client.get(path)
        assert answer.status_code == 503
        assert answer.content_type == problems.MEDIA_TYPE
        assert answer.json["type"] == problems.NOT_READY.uri
        assert "no model" in answer.json["detail"]
    assert len(answer.json["models"]) == 4


def test_not_ready_where_a_model_cannot_decode(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.api.health._SENTENCE", FAILING_WORD)
    client = create_app(settings, rule_registry()).test_client()
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "en-pos-crf" in answer.json["detail"]


@pytest.mark.parametrize("path", GETS)
def test_head_answers_as_get(client: FlaskClient, path: str) -> None:
    get, head = client.get(path, buffered=True), client.head(path, buffered=True)
    assert (head.status_code, head.data) == (200, b"")
    assert head.content_type == get.content_type


@pytest.mark.parametrize("path", GETS + POSTS)
def test_options_has_allow_and_no_html(client: FlaskClient, path: str) -> None:
    answer = client.options(path)
    assert (answer.status_code, answer.data) == (200, b"")
    assert ("POST" in answer.headers["Allow"]) == (path in POSTS)
    assert "Content-Type" not in answer.headers


def test_options_of_nothing_is_a_problem_like_others(client: FlaskClient) -> None:
    answer = client.options("/nowhere")
    assert answer.status_code == 404
    assert answer.content_type == "application/problem+json"


def test_only_the_docs_are_html(client: FlaskClient) -> None:
    html = {path for path in GETS if "html" in client.get(path, buffered=True).content_type}
    assert html == {"/docs"}


def test_the_docs_page_loads_nothing_from_elsewhere(client: FlaskClient) -> None:
    for path in ("/docs", "/docs/"):
        page = client.get(path, headers={"Host": "elsewhere.example"})
        assert page.status_code == 200
        links = re.findall(r'(?:src|href)="([^"]*)"', page.text)
        assert links
        for link in links:
            assert link.startswith("/docs/")
            assert client.get(link, buffered=True).status_code == 200
        assert "elsewhere.example" not in page.text
        # what a browser would fetch: nothing with a host of its own
        assert not re.search(r"""["'(](https?:)?//""", page.text)
        assert '"validatorUrl": null' in page.text
        assert "default-src 'self'" in page.headers["Content-Security-Policy"]


@pytest.fixture
def document(client: FlaskClient) -> dict[str, Any]:
    document: dict[str, Any] = client.get("/openapi.json").json
    return document


def test_the_document_is_valid_openapi(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    OpenAPIV31SpecValidator(document).validate()


def test_the_document_names_every_path(client: FlaskClient, document: dict[str, Any]) -> None:
    rules = {
        re.sub(r"<(\w+)>", r"{\1}", rule.rule)
        for rule in client.application.url_map.iter_rules()
        if rule.rule != "/" and not rule.rule.startswith(("/static/", "/docs", "/openapi.json"))
    }
    assert set(document["paths"]) == rules


def test_the_document_forbids_unknown_fields(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for name in ("TagRequest", "NerRequest", "TagBatchRequest", "NerBatchRequest"):
        assert schemas[name]["additionalProperties"] is False
    documents = schemas["TagBatchRequest"]["properties"]["documents"]
    assert set(documents["items"]["properties"]) == {"text", "tokens"}
    assert documents["items"]["additionalProperties"] is False
