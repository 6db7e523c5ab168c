"""What a request may know beforehand: constraints on spans, and a dictionary."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from service.api.answer_schemas import NerAnswer

TEXT = "📷 Jane met the bank. She left"
#       0  2    7   11  15  19  21  25    in code points


def ask(client: FlaskClient, path: str = "/ner", **request: object) -> Any:
    document = {} if {"tokens", "documents"} & set(request) else {"text": TEXT}
    answer = client.post(path, json=document | request)
    assert answer.status_code == 200, answer.json
    return answer.json


def spans(answer: Any) -> list[tuple[str, str]]:
    return [(span["label"], span["text"]) for span in answer["spans"]]


def refused(client: FlaskClient, **request: object) -> Any:
    document = {} if "tokens" in request else {"text": TEXT}
    answer = client.post("/ner", json=document | request)
    assert answer.status_code == 422
    return answer.json


def known(mode: str, label: str, **place: int) -> dict[str, object]:
    return {"mode": mode, "label": label} | place


def test_nothing_known_changes_nothing(client: FlaskClient) -> None:
    expected = ask(client)
    assert spans(expected) == [("PER", "Jane"), ("PER", "She")]
    assert ask(client, constraints=[], dictionary=[]) == expected
    assert ask(client, constraints=None, dictionary=None) == expected


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        (known("span", "ORG", start=11, end=19), [("PER", "Jane"), ("ORG", "the bank")]),
        (known("span", "ORG", token_start=3, token_end=5), [("PER", "Jane"), ("ORG", "the bank")]),
        (known("span", "LOC", start=2, end=6), [("LOC", "Jane")]),
        (known("inside", "ORG", start=15, end=19), [("PER", "Jane"), ("ORG", "bank")]),
        (known("forbid", "PER", token_start=0, token_end=3), []),
        (known("forbid", "LOC", token_start=0, token_end=8), [("PER", "Jane")]),
        (known("forbid", "*", token_start=0, token_end=6), []),
    ],
)
def test_a_constraint_is_met(
    client: FlaskClient, constraint: dict[str, object], expected: list[tuple[str, str]]
) -> None:
    found = ask(client, constraints=[constraint], confidence=True)
    assert [s for s in spans(found) if s[1] != "She"] == expected
    NerAnswer.model_validate(found, strict=True, extra="forbid")
    if constraint["mode"] == "span":
        forced = next(s for s in found["spans"] if (s["label"], s["text"]) in expected[-1:])
        assert forced["confidence"] == pytest.approx(1)


def test_several_constraints_are_met_together(client: FlaskClient) -> None:
    constraints = [
        known("span", "ORG", start=11, end=19),
        known("forbid", "*", start=2, end=6),
        known("span", "LOC", start=21, end=24),
    ]
    assert spans(ask(client, constraints=constraints)) == [("ORG", "the bank"), ("LOC", "She")]


@pytest.mark.parametrize(("unit", "shift"), [("codepoint", 0), ("utf16", 1), ("utf8", 3)])
def test_characters_count_in_the_unit_of_the_request(
    client: FlaskClient, unit: str, shift: int
) -> None:
    constraint = known("span", "ORG", start=11 + shift, end=19 + shift)
    answer = ask(client, constraints=[constraint], offset_unit=unit)
    assert ("ORG", "the bank") in spans(answer)


@pytest.mark.parametrize(
    ("constraint", "pointer", "detail"),
    [
        (known("span", "ORG", start=12, end=19), "start", "token 3 is at 11 to 14"),
        (known("span", "ORG", start=10, end=19), "start", "token 3 is at 11 to 14"),
        (known("span", "ORG", start=11, end=18), "end", "token 4 is at 15 to 19"),
        (known("span", "ORG", start=20, end=21), "start", "token 6 is at 21 to 24"),
        (known("span", "ORG", start=11, end=900), "end", "token 7 is at 25 to 29"),
        (known("span", "ORG", start=900, end=901), "start", "token 7 is at 25 to 29"),
        (known("span", "ORG", start=11, end=11), "start", "not empty"),
        (known("span", "ORG", token_start=7, token_end=9), "token_start", "between 0 and 8"),
        (known("span", "ORG", token_start=3, token_end=3), "token_start", "not empty"),
        (known("span", "ORG", token_start=-1, token_end=3), "token_start", "greater"),
        (known("span", "XYZ", token_start=0, token_end=1), "label", "LOC, ORG, PER"),
        (known("span", "*", token_start=0, token_end=1), "", "forbidden"),
        (known("all", "ORG", token_start=0, token_end=1), "mode", "span"),
        (known("span", "ORG", start=11), "", "exactly one"),
        (known("span", "ORG"), "", "exactly one"),
        (known("span", "ORG", start=0, end=1, token_start=0, token_end=1), "", "exactly one"),
        (known("span", "ORG", start=0, end=1, token_start=0), "", "exactly one"),
        (known("span", "PER", token_start=4, token_end=7), "", "at token 6"),
    ],
)
def test_a_constraint_that_does_not_fit_the_document_is_refused(
    client: FlaskClient, constraint: dict[str, object], pointer: str, detail: str
) -> None:
    fits = known("forbid", "LOC", token_start=0, token_end=8)
    problem = refused(client, constraints=[fits, constraint])
    place = f"/constraints/1/{pointer}" if pointer else "/constraints/1"
    assert problem["pointer"] == place
    assert detail in problem["detail"]


def test_contradictions_name_both(client: FlaskClient) -> None:
    constraints = [
        known("forbid", "LOC", token_start=0, token_end=8),
        known("span", "ORG", start=11, end=19),
        known("inside", "PER", start=15, end=19),
    ]
    problem = refused(client, constraints=constraints)
    assert problem["detail"] == "constraints 1 and 2 contradict each other at token 4"
    assert problem["pointer"] == "/constraints/2"


def test_a_document_of_tokens_has_no_characters(client: FlaskClient) -> None:
    constraint = known("span", "ORG", start=0, end=3)
    problem = refused(client, tokens=[["the", "bank"]], constraints=[constraint])
    assert (problem["pointer"], "token_start" in problem["detail"]) == ("/constraints/0", True)
    constraint = known("span", "ORG", token_start=1, token_end=2)
    answer = ask(client, tokens=[["the", "bank"]], constraints=[constraint])
    assert spans(answer) == [("ORG", "bank")]


@pytest.mark.parametrize("place", [{"start": 0, "end": 1}, {"token_start": 0, "token_end": 1}])
def test_a_document_without_tokens_meets_no_range(
    client: FlaskClient, place: dict[str, int]
) -> None:
    problem = refused(client, text=" ", constraints=[known("forbid", "*", **place)])
    assert problem["pointer"].startswith("/constraints/0/")


def test_a_span_may_reach_over_what_would_be_two_sentences_where_there_is_one(
    client: FlaskClient,
) -> None:
    constraint = known("span", "PER", token_start=4, token_end=7)
    answer = ask(client, constraints=[constraint], sentences=False)
    assert ("PER", "bank. She") in spans(answer)


def test_in_a_batch_constraints_are_of_their_document(client: FlaskClient) -> None:
    documents = [
        {"text": "Bo"},
        {"text": "Bo", "constraints": [known("span", "LOC", start=0, end=2)]},
        {"text": "Bo", "constraints": [known("span", "LOC", start=1, end=2)]},
        {
            "text": "Bo",
            "constraints": [
                known("span", "LOC", start=0, end=2),
                known("span", "ORG", start=0, end=2),
            ],
        },
        {"text": "Bo"},
    ]
    first, second, third, fourth, fifth = ask(client, "/ner/batch", documents=documents)[
        "documents"
    ]
    assert [spans(each) for each in (first, second, fifth)] == [
        [("PER", "Bo")],
        [("LOC", "Bo")],
        [("PER", "Bo")],
    ]
    assert third["error"]["pointer"] == "/documents/2/constraints/0/start"
    assert fourth["error"]["pointer"] == "/documents/3/constraints/1"


def test_there_are_at_most_a_thousand_of_each(client: FlaskClient) -> None:
    constraint = known("forbid", "LOC", token_start=0, token_end=1)
    assert ask(client, constraints=[constraint] * 1000) == ask(client)
    assert refused(client, constraints=[constraint] * 1001)["pointer"] == "/constraints"
    entry = {"phrase": "x", "label": "LOC", "weight": 1}
    assert ask(client, dictionary=[entry] * 1000) == ask(client)
    assert refused(client, dictionary=[entry] * 1001)["pointer"] == "/dictionary"


def test_a_dictionary_finds_spans(client: FlaskClient) -> None:
    entry = {"phrase": "The  Bank", "label": "ORG", "weight": 3}
    found = ask(client, dictionary=[entry], confidence=True)
    assert spans(found) == [("PER", "Jane"), ("ORG", "the bank"), ("PER", "She")]
    assert ask(client, dictionary=[entry | {"weight": 0}], confidence=True) == ask(
        client, confidence=True
    )
    assert ask(client, dictionary=[entry | {"match_case": True}]) == ask(client)
    exact = entry | {"phrase": "the bank", "match_case": True}
    assert ask(client, dictionary=[exact], confidence=True) == found


def test_a_dictionary_is_weighed_and_may_speak_against_spans(client: FlaskClient) -> None:
    entry = {"phrase": "jane", "label": "PER", "weight": -2}
    assert spans(ask(client, dictionary=[entry])) == [("PER", "She")]
    slight = ask(client, dictionary=[entry | {"weight": -0.5}], confidence=True)
    assert spans(slight) == spans(ask(client))
    assert slight["spans"][0]["confidence"] < ask(client, confidence=True)["spans"][0]["confidence"]


def test_a_dictionary_is_of_all_documents(client: FlaskClient) -> None:
    entry = {"phrase": "bank", "label": "ORG", "weight": 3}
    documents = [{"text": "the bank"}, {"tokens": [["bank"], ["a", "bank"]]}]
    answer = ask(client, "/ner/batch", documents=documents, dictionary=[entry])
    assert [spans(each) for each in answer["documents"]] == [
        [("ORG", "bank")],
        [("ORG", "bank"), ("ORG", "bank")],
    ]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"phrase": " "}, "phrase"),
        ({"phrase": "x" * 101}, "phrase"),
        ({"label": "XYZ"}, "label"),
        ({"weight": 1001}, "weight"),
        ({"weight": "1"}, "weight"),
        ({"match_case": 1}, "match_case"),
        ({"more": 1}, "more"),
    ],
)
def test_an_entry_that_cannot_be_used_is_refused(
    client: FlaskClient, changes: dict[str, object], field: str
) -> None:
    entry: dict[str, object] = {"phrase": "bank", "label": "ORG", "weight": 1}
    problem = refused(client, dictionary=[entry, entry | changes])
    assert problem["pointer"] == f"/dictionary/1/{field}"


@pytest.mark.parametrize("field", ["constraints", "dictionary"])
def test_parts_of_speech_are_no_spans(client: FlaskClient, field: str) -> None:
    answer = client.post("/tag", json={"text": TEXT, field: []})
    assert (answer.status_code, answer.json["pointer"]) == (422, f"/{field}")
