"""`"explain": true`: why tags are what they are, in numbers that add up."""

from collections.abc import Iterator
from math import exp, inf
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

from service.api.answer_schemas import NerAnswer, NerBatchAnswer, TagAnswer
from service.api.app import create_app
from service.api.explanation_answers import explanation_answer
from service.config import Settings
from service.decoding import ChainScores, Transitions
from service.store.registry import Registry
from service.taggers.explanation import explanation_of
from service.text.tokens import Offsets
from tests.api.conftest import ROOT
from tests.unit.decoding.test_janet import TRELLIS, WORDS

Json = dict[str, Any]
TEXT = "Jane Villanueva left. She works for United Airlines"
EACH_ROUNDED = 3e-6
"""How far a sum of three numbers of six decimals may be off."""


@pytest.fixture(scope="module")
def shipped() -> FlaskClient:
    names = "en-pos-janet,en-ner-crf,en-ner-char-bilstm-crf"
    settings = Settings(models_dir=ROOT / "models", models=names)
    return create_app(settings, Registry.open(settings)).test_client()


def explained(client: FlaskClient, path: str, **request: Any) -> tuple[Json, Json]:
    """The answer and its explanation."""
    answer = client.post(path, json={**request, "explain": True}).json
    return answer, answer["explanation"]


def finite(score: float | None) -> float:
    return -inf if score is None else score


def cells(explanation: Json) -> Iterator[tuple[Json, int, int, int | None, float]]:
    """Sentence, row, tag, tag before and score of every cell."""
    for sentence in explanation["sentences"]:
        for row, scores in enumerate(sentence["cells"]):
            for tag, score in enumerate(scores):
                before = sentence["back_pointers"][row][tag]
                yield sentence, row, tag, before, finite(score)


@pytest.mark.parametrize(
    ("path", "request_"),
    [
        ("/tag", {"text": "Janet will back the bill"}),
        ("/ner", {"text": TEXT}),
        ("/ner", {"tokens": [["Jane"], [], ["Villanueva", "works"]]}),
    ],
)
def test_every_cell_is_the_one_before_plus_transition_plus_emission(
    client: FlaskClient, path: str, request_: Json
) -> None:
    answer, found = explained(client, path, **request_)
    for sentence, row, tag, before, score in cells(found):
        if row:
            if before is None:
                assert score == -inf
                continue
            arrived = finite(sentence["cells"][row - 1][before])
            arrived += finite(found["transitions"][before][tag])
        else:
            assert before is None
            arrived = finite(found["start"][tag])
        emission = finite(sentence["emissions"][row][tag])
        assert score == pytest.approx(arrived + emission, abs=EACH_ROUNDED)
    lengths = [s["token_end"] - s["token_start"] for s in answer["sentences"]]
    assert [len(s["best_path"]) for s in found["sentences"]] == lengths


@pytest.mark.parametrize("model", ["en-ner-crf", "en-ner-char-bilstm-crf", "en-pos-janet"])
def test_back_pointers_lead_along_the_tags_that_are_answered(
    shipped: FlaskClient, model: str
) -> None:
    path = "/tag" if model == "en-pos-janet" else "/ner"
    answer, found = explained(shipped, path, text=TEXT, model=model)
    assert len(set(found["tags"])) == len(found["tags"])
    assert {tag[:2] for tag in found["tags"]}.isdisjoint({"S-", "E-"})
    followed = []
    for sentence in found["sentences"]:
        tags = [sentence["best_path"][-1]]
        for row in sentence["back_pointers"][:0:-1]:
            tags.append(row[tags[-1]])
        followed += [found["tags"][tag] for tag in reversed(tags)]
    assert followed == [token["tag"] for token in answer["tokens"]]


def test_rows_in_which_the_best_path_was_not_ahead_are_named(shipped: FlaskClient) -> None:
    _, found = explained(shipped, "/ner", text=TEXT, model="en-ner-crf")
    for sentence in found["sentences"]:
        rows = zip(sentence["cells"], sentence["best_path"], strict=True)
        ahead = [max(map(finite, scores)) == finite(scores[tag]) for scores, tag in rows]
        assert sentence["overruled"] == [row for row, best in enumerate(ahead) if not best]


def test_the_textbook_s_trellis_is_told_cell_by_cell(shipped: FlaskClient) -> None:
    answer, found = explained(shipped, "/tag", text=" ".join(WORDS), model="en-pos-janet")
    [sentence] = found["sentences"]
    for scores, expected in zip(sentence["cells"], TRELLIS, strict=True):
        pairs = zip(found["tags"], scores, strict=True)
        told = {tag: exp(score) for tag, score in pairs if score is not None}
        assert told == pytest.approx(expected, rel=1e-6)
    tags = [found["tags"][tag] for tag in sentence["best_path"]]
    assert tags == ["NNP", "MD", "VB", "DT", "NN"] == [t["tag"] for t in answer["tokens"]]
    assert sentence["overruled"] == [2]  # at *back*, RB is ahead of VB until *the* comes
    back = list(map(finite, sentence["cells"][2]))
    assert found["tags"][back.index(max(back))] == "RB"
    assert found["tokens"] is None


def test_features_of_a_crf_add_up_to_what_the_trellis_has(shipped: FlaskClient) -> None:
    text = "Jane Villanueva of United Airlines"
    answer, found = explained(shipped, "/ner", text=text, model="en-ner-crf")
    [sentence] = found["sentences"]
    previous = None
    for row, (token, why) in enumerate(zip(answer["tokens"], found["tokens"], strict=True)):
        assert why["best"]["tag"] == token["tag"] != why["runner_up"]["tag"]
        for candidate in why.values():
            tag = found["tags"].index(candidate["tag"])
            assert candidate["emission"] == sentence["emissions"][row][tag]
            total = sum(feature["weight"] for feature in candidate["features"])
            assert total == pytest.approx(candidate["emission"], abs=1e-4)
            came = found["start"] if previous is None else found["transitions"][previous]
            assert candidate["transition"] == came[tag]
        previous = sentence["best_path"][row]
    villanueva = {feature["feature"] for feature in found["tokens"][1]["best"]["features"]}
    assert {"0:shape=Xxxxxxxxxx", "-1:lower=jane"} & villanueva


def test_the_runner_up_is_the_most_probable_of_the_others(shipped: FlaskClient) -> None:
    request = {"text": TEXT, "model": "en-ner-crf", "marginals": True}
    answer, found = explained(shipped, "/ner", **request)
    for token, why in zip(answer["tokens"], found["tokens"], strict=True):
        others = {tag: p for tag, p in token["marginals"].items() if tag != token["tag"]}
        assert why["runner_up"]["tag"] == max(others, key=others.__getitem__)


class Folding:
    """A tagger of three states, of which two bear the tag B."""

    labels = ("O", "B", "B")
    probabilistic = True

    def score(self, words: list[str], sentence_offsets: Offsets) -> ChainScores:
        around = Transitions(np.zeros((3, 3)), np.array([0.0, 0.0, -np.inf]), np.zeros(3))
        emissions = np.tile([0.0, 1.0, 2.0], (len(words), 1))
        return ChainScores(emissions, around, sentence_offsets)


def test_of_more_states_than_tags_the_tags_are_shown_without_transitions() -> None:
    words, offsets = ["a", "b"], np.array([0, 2])
    found = explanation_of(Folding(), words, Folding().score(words, offsets))
    assert explanation_answer(found, offsets) == {
        "tags": ("O", "B"),
        "start": None,
        "transitions": None,
        "end": None,
        "sentences": [
            {
                "score": 3.0,
                "best_path": [1, 1],
                "overruled": [],
                "emissions": [[0.0, 1.0], [0.0, 2.0]],
                "cells": [[0.0, 1.0], [1.0, 3.0]],
                "back_pointers": [[None, None], [1, 1]],
            }
        ],
        "tokens": None,
    }


def test_what_the_request_adds_stands_among_the_features(shipped: FlaskClient) -> None:
    request = {
        "tokens": [["We", "met", "Mindful", "Sparrow", "today"]],
        "model": "en-ner-crf",
        "dictionary": [{"phrase": "mindful sparrow", "label": "ORG", "weight": 50.0}],
        "constraints": [{"token_start": 4, "token_end": 5, "label": "*", "mode": "forbid"}],
    }
    answer, found = explained(shipped, "/ner", **request)
    assert [token["tag"] for token in answer["tokens"]] == ["O", "O", "B-ORG", "I-ORG", "O"]
    [sentence] = found["sentences"]
    assert [found["tags"][tag] for tag in sentence["best_path"]] == [
        token["tag"] for token in answer["tokens"]
    ]
    for row, why in enumerate(found["tokens"]):
        best = why["best"]
        weights = {feature["feature"]: feature["weight"] for feature in best["features"]}
        assert ("request" in weights) == (row in (2, 3))
        tag = found["tags"].index(best["tag"])
        assert sum(weights.values()) == pytest.approx(sentence["emissions"][row][tag], abs=1e-4)
    today = sentence["emissions"][4]
    assert [tag for tag, score in zip(found["tags"], today, strict=True) if score is not None] == [
        "O"
    ]
    assert found["tokens"][4]["runner_up"] is None


@pytest.mark.parametrize("options", [{}, {"explain": False}, {"explain": None}])
def test_nothing_is_explained_unless_it_is_asked_for(client: FlaskClient, options: Json) -> None:
    plain = client.post("/ner", json={"text": TEXT}).json
    assert client.post("/ner", json={"text": TEXT, **options}).json == plain
    answer, _ = explained(client, "/ner", text=TEXT)
    del answer["explanation"]
    assert answer == plain


def test_nothing_to_explain(client: FlaskClient) -> None:
    _, found = explained(client, "/tag", text="")
    assert (found["sentences"], found["tokens"]) == ([], [])
    _, found = explained(client, "/tag", tokens=[[]])
    assert found["sentences"] == [
        {
            "score": 0.0,
            "best_path": [],
            "overruled": [],
            "emissions": [],
            "cells": [],
            "back_pointers": [],
        }
    ]


def test_a_request_may_have_two_hundred_tokens(client: FlaskClient) -> None:
    words = [["a"] * 100, ["b"] * 100]
    assert client.post("/tag", json={"tokens": words, "explain": True}).status_code == 200
    too_long = client.post("/tag", json={"tokens": [*words, ["c"]], "explain": True})
    assert too_long.status_code == 413
    assert (too_long.json["limit"], too_long.json["pointer"]) == (200, "/explain")
    empty = client.post("/tag", json={"tokens": [[]] * 201, "explain": True})
    assert empty.status_code == 413
    documents = [{"tokens": [part]} for part in words]
    whole = {"documents": documents, "explain": True}
    assert client.post("/tag/batch", json=whole).status_code == 200
    more = {"documents": [*documents, {"text": "c"}], "explain": True}
    assert client.post("/tag/batch", json=more).json["limit"] == 200


def test_in_a_batch_each_document_is_explained_as_alone(client: FlaskClient) -> None:
    documents = [{"text": TEXT}, {"text": 5}, {"tokens": [["Jane"], ["the"]]}]
    batch = client.post("/ner/batch", json={"documents": documents, "explain": True}).json
    for document, found in zip(documents, batch["documents"], strict=True):
        if "error" not in found:
            assert found["explanation"] == explained(client, "/ner", **document)[1]


def test_explanations_are_as_the_schemas_say(client: FlaskClient, shipped: FlaskClient) -> None:
    answers = [
        (NerAnswer, explained(client, "/ner", text=TEXT)[0]),
        (NerAnswer, explained(shipped, "/ner", text=TEXT, model="en-ner-char-bilstm-crf")[0]),
        (TagAnswer, explained(shipped, "/tag", text=TEXT, model="en-pos-janet")[0]),
        (
            NerBatchAnswer,
            client.post("/ner/batch", json={"documents": [{"text": "a"}], "explain": True}).json,
        ),
    ]
    for schema, answer in answers:
        schema.model_validate(answer, strict=True, extra="forbid")
