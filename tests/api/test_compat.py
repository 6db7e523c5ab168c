"""What clients of other services ask: Hugging Face's own client, and the shapes of Presidio."""

from typing import Any

import pytest
from flask.testing import FlaskClient
from huggingface_hub import InferenceClient
from huggingface_hub.errors import HfHubHTTPError

from service.api.app import create_app
from service.api.compat.huggingface import TokenClassificationAnswer
from service.api.compat.presidio import AnalyzeAnswer
from service.config import Settings
from tests.api.conftest import Server
from tests.api.fakes import rule_registry

TEXT = "📷 Jane Villanueva of\nUnited Airlines"
HUGGINGFACE = "/compat/huggingface"
PRESIDIO = "/compat/presidio/analyze"


@pytest.fixture
def hub(server: Server) -> InferenceClient:
    return InferenceClient(model=server.url + HUGGINGFACE)


def spans_of(client: FlaskClient, **request: Any) -> list[dict[str, Any]]:
    spans: list[dict[str, Any]] = client.post("/ner", json=request | {"confidence": True}).json[
        "spans"
    ]
    return spans


def test_entities_by_the_client_of_hugging_face(hub: InferenceClient, client: FlaskClient) -> None:
    spans = spans_of(client, text=TEXT)
    found = hub.token_classification(TEXT)
    assert [(e.entity_group, e.word, e.start, e.end) for e in found] == [
        (span["label"], span["text"], span["start"], span["end"]) for span in spans
    ]
    assert [e.score for e in found] == pytest.approx([span["confidence"] for span in spans])
    for strategy in ("simple", "first", "average", "max"):
        assert hub.token_classification(TEXT, aggregation_strategy=strategy, stride=3) == found
    persons = hub.token_classification(TEXT, ignore_labels=["ORG"])
    assert [e.word for e in persons] == ["Jane Villanueva"]


def test_tokens_by_the_client_of_hugging_face(hub: InferenceClient, client: FlaskClient) -> None:
    tokens = client.post("/ner", json={"text": TEXT, "confidence": True}).json["tokens"]
    for ignored in (None, ["O"], [], ["O", "B-PER"]):
        found = hub.token_classification(TEXT, aggregation_strategy="none", ignore_labels=ignored)
        there = [
            (index, token["tag"], token["text"], token["start"], token["end"])
            for index, token in enumerate(tokens, start=1)
            if token["tag"] not in (["O"] if ignored is None else ignored)
        ]
        assert [(e.index, e.entity, e.word, e.start, e.end) for e in found] == there
        assert all(0 < e.score <= 1 for e in found)


def test_the_client_of_hugging_face_shows_what_is_wrong(hub: InferenceClient) -> None:
    with pytest.raises(HfHubHTTPError, match="413") as raised:
        hub.token_classification("a" * 100_001)
    assert raised.value.response.status_code == 413
    assert raised.value.response.json()["pointer"] == "/inputs"


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        (HUGGINGFACE, {"inputs": ["a"]}, "/inputs"),
        (HUGGINGFACE, {"parameters": {}}, "/inputs"),
        (
            HUGGINGFACE,
            {"inputs": "a", "parameters": {"aggregation_strategy": "x"}},
            "/parameters/aggregation_strategy",
        ),
        (HUGGINGFACE, {"inputs": "a", "parameters": {"x": 1}}, "/parameters/x"),
        (PRESIDIO, {"text": "a"}, "/language"),
        (PRESIDIO, {"text": 5, "language": "en"}, "/text"),
        (PRESIDIO, {"text": ["a", 5], "language": "en"}, "/text"),
        (PRESIDIO, {"text": "a", "language": "de"}, "/language"),
        (PRESIDIO, {"text": "a", "language": "en", "entities": ["URL"]}, "/entities"),
        (PRESIDIO, {"text": "a", "language": "en", "score_threshold": 1.1}, "/score_threshold"),
        (
            PRESIDIO,
            {"text": "a", "language": "en", "ad_hoc_recognizers": [{"name": "x"}]},
            "/ad_hoc_recognizers",
        ),
        (
            PRESIDIO,
            {"text": "a", "language": "en", "allow_list_match": "regex"},
            "/allow_list_match",
        ),
        (PRESIDIO, {"text": "a", "language": "en", "x": 1}, "/x"),
    ],
)
def test_wrong_requests_are_problems(
    client: FlaskClient, path: str, body: dict[str, Any], pointer: str
) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == 422
    assert answer.content_type == "application/problem+json"
    assert answer.json["pointer"] == pointer


def test_limits_name_the_text(client: FlaskClient) -> None:
    long = "a" * 1001
    for path, body, pointer in (
        (HUGGINGFACE, {"inputs": long}, "/inputs"),
        (PRESIDIO, {"text": long, "language": "en"}, "/text"),
        (PRESIDIO, {"text": ["a", long], "language": "en"}, "/text/1"),
        (PRESIDIO, {"text": ["a"] * 11, "language": "en"}, "/text"),
    ):
        answer = client.post(path, json=body)
        assert (answer.status_code, answer.json["pointer"]) == (413, pointer)


def analyzed(client: FlaskClient, text: Any, **request: Any) -> Any:
    answer = client.post(PRESIDIO, json={"text": text, "language": "en", **request})
    assert answer.status_code == 200
    AnalyzeAnswer.model_validate_json(answer.data, strict=True, extra="forbid")
    return answer.json


def test_results_are_those_of_ner_under_other_names(client: FlaskClient) -> None:
    names = {"PER": "PERSON", "ORG": "ORGANIZATION"}
    assert analyzed(client, TEXT) == [
        {
            "entity_type": names[span["label"]],
            "start": span["start"],
            "end": span["end"],
            "score": span["confidence"],
            "analysis_explanation": None,
        }
        for span in spans_of(client, text=TEXT)
    ]


def test_many_texts_are_answered_by_as_many_lists(client: FlaskClient) -> None:
    alone = [analyzed(client, text) for text in (TEXT, "", "no one")]
    assert analyzed(client, [TEXT, "", "no one"]) == alone
    assert analyzed(client, []) == []


@pytest.mark.parametrize(
    ("request_", "types"),
    [
        ({}, ["PERSON", "ORGANIZATION"]),
        ({"entities": []}, ["PERSON", "ORGANIZATION"]),
        ({"entities": ["URL", "ORGANIZATION", "LOCATION"]}, ["ORGANIZATION"]),
        ({"score_threshold": 0.23}, ["ORGANIZATION"]),
        ({"score_threshold": 1}, []),
        ({"allow_list": ["Jane Villanueva", "United"]}, ["ORGANIZATION"]),
        (
            {
                "allow_list_match": "exact",
                "ad_hoc_recognizers": [],
                "return_decision_process": True,
                "correlation_id": "1",
                "context": ["mr"],
                "regex_flags": 2,
                "trace": False,
            },
            ["PERSON", "ORGANIZATION"],
        ),
    ],
)
def test_what_is_asked_for_is_found(
    client: FlaskClient, request_: dict[str, Any], types: list[str]
) -> None:
    assert [result["entity_type"] for result in analyzed(client, TEXT, **request_)] == types


def test_answers_are_as_the_schemas_say(client: FlaskClient) -> None:
    for strategy in (None, "none"):
        body = {"inputs": TEXT, "parameters": {"aggregation_strategy": strategy}}
        answer = client.post(HUGGINGFACE, json=body)
        TokenClassificationAnswer.model_validate_json(answer.data, strict=True, extra="forbid")


def test_no_score_is_invented(settings: Settings) -> None:
    client = create_app(settings, rule_registry(probabilistic=False)).test_client()
    assert {result["score"] for result in analyzed(client, TEXT)} == {None}
    asked = {"text": TEXT, "language": "en", "score_threshold": 0.5}
    answer = client.post(PRESIDIO, json=asked)
    assert (answer.status_code, answer.json["pointer"]) == (422, "/score_threshold")
