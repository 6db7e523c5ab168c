"""What a request may ask for beside tags and spans: probabilities, the n best, one sentence."""

import itertools
import math
from typing import Any

import pytest
from flask.testing import FlaskClient

from service.api.answer_schemas import NerAnswer, NerBatchAnswer, TagAnswer
from service.api.app import create_app
from service.config import Settings
from tests.api.fakes import NER_LABELS, PTB_LABELS, rule_registry

TEXT = "Jane Villanueva of United Airlines. I saw Bo"
OPTIONS = {"confidence": True, "marginals": True, "n_best": 3}


def ask(client: FlaskClient, path: str = "/ner", **request: object) -> Any:
    document = {} if {"tokens", "documents"} & set(request) else {"text": TEXT}
    answer = client.post(path, json=document | request)
    assert answer.status_code == 200, answer.json
    return answer.json


def plain(answer: Any) -> Any:
    """An answer without what is asked for beside tags and spans."""
    beside = {"confidence", "marginals", "n_best"}
    if isinstance(answer, dict):
        return {key: plain(part) for key, part in answer.items() if key not in beside}
    return [plain(part) for part in answer] if isinstance(answer, list) else answer


@pytest.mark.parametrize("path", ["/tag", "/ner"])
def test_nothing_else_changes(client: FlaskClient, path: str) -> None:
    expected, found = ask(client, path), ask(client, path, **OPTIONS)
    assert expected == plain(expected)
    assert found != expected
    assert plain(found) == expected
    off = {"confidence": False, "marginals": False, "n_best": None, "sentences": True}
    assert ask(client, path, **off) == expected


def test_confidences_of_tokens_and_spans(client: FlaskClient) -> None:
    # Each tag beside the right one is a third as probable: of 7, so far as BIO allows them.
    answer = ask(client, tokens=[["Bo"]], confidence=True)
    right, others = 1, 3 / 3  # B-PER; O, B-LOC, B-ORG
    assert answer["tokens"][0]["confidence"] == pytest.approx(right / (right + others))
    assert answer["spans"][0]["confidence"] == answer["tokens"][0]["confidence"]
    longer = ask(client, tokens=[["Bo", "Li"]], confidence=True)
    [span] = longer["spans"]
    assert span["text"] == "Bo Li"
    assert span["confidence"] < min(token["confidence"] for token in longer["tokens"])


@pytest.mark.parametrize(("path", "labels"), [("/ner", NER_LABELS), ("/tag", PTB_LABELS)])
def test_marginals(client: FlaskClient, path: str, labels: tuple[str, ...]) -> None:
    answer = ask(client, path, marginals=True, confidence=True)
    for token in answer["tokens"]:
        marginals = token["marginals"]
        assert set(marginals) == set(labels)
        assert all(0 <= p <= 1 for p in marginals.values())
        assert sum(marginals.values()) == pytest.approx(1)
        assert marginals[token["tag"]] == token["confidence"] == max(marginals.values())


def test_the_n_best(client: FlaskClient) -> None:
    answer = ask(client, n_best=20)
    tags = [token["tag"] for token in answer["tokens"]]
    spans = []
    for sentence in answer["sentences"]:
        best = sentence["n_best"]
        assert len({tuple(each["tags"]) for each in best}) == len(best) == 20
        assert best[0]["tags"] == tags[sentence["token_start"] : sentence["token_end"]]
        log_probs = [each["log_prob"] for each in best]
        assert log_probs == sorted(log_probs, reverse=True)
        assert all(log_prob <= 0 for log_prob in log_probs)
        spans += best[0]["spans"]
    assert spans == answer["spans"]
    every = ask(client, "/ner", tokens=[["Bo"], []], n_best=20)["sentences"]
    assert sum(math.exp(each["log_prob"]) for each in every[0]["n_best"]) == pytest.approx(1)
    assert [len(sentence["n_best"]) for sentence in every] == [4, 1]
    assert every[1]["n_best"] == [{"log_prob": 0.0, "tags": [], "spans": []}]


def test_the_n_best_parts_of_speech_have_no_spans(client: FlaskClient) -> None:
    [sentence] = ask(client, "/tag", text="the bill", n_best=2)["sentences"]
    assert [set(each) for each in sentence["n_best"]] == [{"log_prob", "tags"}] * 2
    assert sentence["n_best"][0]["tags"] == ["DT", "NN"]


def test_labels_filter_the_spans_of_the_n_best_too(client: FlaskClient) -> None:
    [sentence] = ask(client, text="Bo of United", labels=["ORG"], n_best=1)["sentences"]
    assert [span["text"] for span in sentence["n_best"][0]["spans"]] == ["United"]


def test_raising_the_threshold_never_adds_a_span(client: FlaskClient) -> None:
    everything = ask(client, confidence=True)
    kept = everything["spans"]
    assert len({span["confidence"] for span in kept}) > 1
    for threshold in (0, 0.1, *sorted(span["confidence"] for span in kept), 0.9, 1):
        answer = ask(client, confidence=True, threshold=threshold)
        assert answer["tokens"] == everything["tokens"]
        assert answer["spans"] == [s for s in everything["spans"] if s["confidence"] >= threshold]
        assert all(span in kept for span in answer["spans"])
        kept = answer["spans"]
        unasked = ask(client, threshold=threshold)
        assert unasked == plain(answer)


def test_sentences_may_be_left_out(client: FlaskClient) -> None:
    answer = ask(client, sentences=False)
    assert len(ask(client)["sentences"]) == 2
    assert answer["sentences"] == [{"start": 0, "end": 44, "token_start": 0, "token_end": 9}]
    joined = ask(client, tokens=[["Jane"], [], ["Bo"]], sentences=False)
    assert [span["text"] for span in joined["spans"]] == ["Jane Bo"]
    assert ask(client, text=" ", sentences=False)["sentences"] == []


def test_a_batch_answers_as_its_documents_alone(client: FlaskClient) -> None:
    documents = [{"text": TEXT}, {"tokens": [["the", "Jane"], []]}, {"text": ""}, {"text": "É Bo"}]
    batch = ask(client, "/ner/batch", documents=documents, **OPTIONS)
    for found, document in zip(batch["documents"], documents, strict=True):
        alone = client.post("/ner", json=document | OPTIONS).json
        assert plain(batch | found) == plain(alone | {"documents": batch["documents"]})
        for token, other in zip(found["tokens"], alone["tokens"], strict=True):
            assert token["confidence"] == pytest.approx(other["confidence"], abs=1e-5)
            assert token["marginals"] == pytest.approx(other["marginals"], abs=1e-5)
        for span, other in zip(found["spans"], alone["spans"], strict=True):
            assert span["confidence"] == pytest.approx(other["confidence"], abs=1e-5)
        for one, two in zip(found["sentences"], alone["sentences"], strict=True):
            for best, other in zip(one["n_best"], two["n_best"], strict=True):
                assert best["tags"] == other["tags"]
                assert best["log_prob"] == pytest.approx(other["log_prob"], abs=1e-5)


def test_no_probability_is_invented(settings: Settings) -> None:
    unsure = create_app(settings, rule_registry(probabilistic=False)).test_client()
    answer = ask(unsure, **OPTIONS)
    assert {token["confidence"] for token in answer["tokens"]} == {None}
    assert {span["confidence"] for span in answer["spans"]} == {None}
    assert all(token["marginals"] is None for token in answer["tokens"])
    best = [each for sentence in answer["sentences"] for each in sentence["n_best"]]
    assert {each["log_prob"] for each in best} == {None}
    assert len(best) == 6
    NerAnswer.model_validate(answer, strict=True, extra="forbid")
    refused = unsure.post("/ner", json={"text": TEXT, "threshold": 0.5})
    assert refused.status_code == 422
    assert refused.json["pointer"] == "/threshold"


@pytest.mark.parametrize("option", ["marginals", "n_best"])
@pytest.mark.parametrize("path", ["/ner", "/ner/batch"])
def test_many_tokens_are_refused_where_each_costs_much(option: str, path: str) -> None:
    client = create_app(Settings(max_analysed_tokens=6), rule_registry()).test_client()
    asked = {option: 1 if option == "n_best" else True}
    for tokens, status in ((6, 200), (7, 413)):
        words = [["a"] * (tokens - 3), ["a"] * 3]
        body: dict[str, object] = (
            {"documents": [{"tokens": [sentence]} for sentence in words]}
            if path == "/ner/batch"
            else {"tokens": words}
        )
        answer = client.post(path, json=body | asked)
        assert answer.status_code == status
        assert client.post(path, json=body | {"confidence": True}).status_code == 200
    assert (answer.json["limit"], answer.json["pointer"]) == (6, f"/{option}")
    empty: list[list[str]] = [[]] * 7  # each is a sequence to find
    body = {"documents": [{"tokens": empty}]} if path == "/ner/batch" else {"tokens": empty}
    assert client.post(path, json=body | asked).status_code == 413


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("confidence", 1),
        ("marginals", "yes"),
        ("n_best", 0),
        ("n_best", 21),
        ("n_best", True),
        ("n_best", 1.5),
        ("threshold", 1.01),
        ("threshold", -0.1),
        ("threshold", True),
        ("sentences", 0),
    ],
)
def test_a_value_that_an_option_cannot_have_is_refused(
    client: FlaskClient, option: str, value: object
) -> None:
    answer = client.post("/ner", json={"text": TEXT, option: value})
    assert answer.status_code == 422
    assert answer.json["pointer"] == f"/{option}"


def test_there_is_no_threshold_where_there_are_no_spans(client: FlaskClient) -> None:
    answer = client.post("/tag", json={"text": TEXT, "threshold": 0.5})
    assert (answer.status_code, answer.json["pointer"]) == (422, "/threshold")


def test_answers_are_as_the_schemas_say(client: FlaskClient) -> None:
    TagAnswer.model_validate(ask(client, "/tag", **OPTIONS), strict=True, extra="forbid")
    NerAnswer.model_validate(ask(client, **OPTIONS), strict=True, extra="forbid")
    batch = ask(client, "/ner/batch", documents=[{"text": TEXT}], **OPTIONS)
    NerBatchAnswer.model_validate(batch, strict=True, extra="forbid")


def test_every_combination_is_answered(client: FlaskClient) -> None:
    for chosen in itertools.product([False, True], repeat=3):
        options = dict(zip(OPTIONS, chosen, strict=True)) | {"n_best": 2 if chosen[2] else None}
        answer = ask(client, **options)
        assert ("confidence" in answer["spans"][0]) == chosen[0]
        assert ("marginals" in answer["tokens"][0]) == chosen[1]
        assert ("n_best" in answer["sentences"][0]) == chosen[2]
