"""`/tag`, `/ner` and their batches: what is answered where nothing is wrong."""

import pytest
from flask.testing import FlaskClient

from service.api.answer_schemas import NerAnswer, NerBatchAnswer, TagAnswer, TagBatchAnswer
from tests.api.fakes import FAILING_WORD

TEXT = "Jane Villanueva of United Airlines"


def test_ner(client: FlaskClient) -> None:
    answer = client.post("/ner", json={"text": TEXT})
    assert answer.status_code == 200
    assert answer.content_type == "application/json"
    assert answer.json == {
        "model": {"name": "en-ner-crf", "version": "1.0.0"},
        "offset_unit": "codepoint",
        "sentences": [{"start": 0, "end": 34, "token_start": 0, "token_end": 5}],
        "tokens": [
            {"text": "Jane", "start": 0, "end": 4, "tag": "B-PER"},
            {"text": "Villanueva", "start": 5, "end": 15, "tag": "I-PER"},
            {"text": "of", "start": 16, "end": 18, "tag": "O"},
            {"text": "United", "start": 19, "end": 25, "tag": "B-ORG"},
            {"text": "Airlines", "start": 26, "end": 34, "tag": "I-ORG"},
        ],
        "spans": [
            {
                "label": "PER",
                "text": "Jane Villanueva",
                "start": 0,
                "end": 15,
                "token_start": 0,
                "token_end": 2,
            },
            {
                "label": "ORG",
                "text": "United Airlines",
                "start": 19,
                "end": 34,
                "token_start": 3,
                "token_end": 5,
            },
        ],
    }


def test_tag_has_no_spans(client: FlaskClient) -> None:
    answer = client.post("/tag", json={"text": "Janet will back the bill"}).json
    assert [token["tag"] for token in answer["tokens"]] == ["NNP", "MD", "VB", "DT", "NN"]
    assert set(answer) == {"model", "offset_unit", "sentences", "tokens"}


@pytest.mark.parametrize(
    ("options", "model"),
    [
        ({}, "en-pos-crf"),
        ({"tagset": "ptb"}, "en-pos-crf"),
        ({"tagset": "ud"}, "en-upos-crf"),
        ({"model": "en-upos-crf"}, "en-upos-crf"),
        ({"model": "en-upos-crf", "tagset": "ud"}, "en-upos-crf"),
        ({"model": None, "tagset": None}, "en-pos-crf"),
    ],
)
def test_the_model_is_named_or_the_default_of_the_tagset(
    client: FlaskClient, options: dict[str, str], model: str
) -> None:
    one = client.post("/tag", json={"text": "Hi", **options}).json
    many = client.post("/tag/batch", json={"documents": [{"text": "Hi"}], **options}).json
    assert one["model"]["name"] == many["model"]["name"] == model


def test_labels_filter_spans_and_leave_tags(client: FlaskClient) -> None:
    unfiltered = client.post("/ner", json={"text": TEXT}).json
    filtered = client.post("/ner", json={"text": TEXT, "labels": ["ORG"]}).json
    assert [span["text"] for span in filtered["spans"]] == ["United Airlines"]
    assert filtered["tokens"] == unfiltered["tokens"]
    assert client.post("/ner", json={"text": TEXT, "labels": []}).json["spans"] == []


def test_tokens_stand_as_they_came(client: FlaskClient) -> None:
    answer = client.post("/ner", json={"tokens": [["Jane", "Villa nueva"], [], ["\u200b"]]}).json
    assert [token["text"] for token in answer["tokens"]] == ["Jane", "Villa nueva", "\u200b"]
    assert {token[place] for token in answer["tokens"] for place in ("start", "end")} == {None}
    assert answer["sentences"] == [
        {"start": None, "end": None, "token_start": 0, "token_end": 2},
        {"start": None, "end": None, "token_start": 2, "token_end": 2},
        {"start": None, "end": None, "token_start": 2, "token_end": 3},
    ]
    words = client.post("/ner", json={"tokens": [["the", "Jane", "Villanueva"]]}).json
    assert words["spans"] == [
        {
            "label": "PER",
            "text": "Jane Villanueva",
            "start": None,
            "end": None,
            "token_start": 1,
            "token_end": 3,
        }
    ]


@pytest.mark.parametrize("document", [{"text": ""}, {"text": " \n\t"}, {"tokens": []}])
def test_nothing_to_tag(client: FlaskClient, document: dict[str, object]) -> None:
    answer = client.post("/ner", json=document)
    assert answer.status_code == 200
    assert (answer.json["tokens"], answer.json["spans"]) == ([], [])


def test_a_long_sentence_is_split_and_marked(client: FlaskClient) -> None:
    answer = client.post("/tag", json={"tokens": [["a"] * 120, ["b"]]}).json
    bounds = [(s["token_start"], s["token_end"], s.get("split")) for s in answer["sentences"]]
    assert bounds == [(0, 50, True), (50, 100, True), (100, 120, True), (120, 121, None)]


def test_a_batch_answers_as_its_documents_alone(client: FlaskClient) -> None:
    documents = [{"text": TEXT}, {"tokens": [["the", "Jane"]]}, {"text": ""}, {"text": "É Bo"}]
    options = {"labels": ["PER"], "offset_unit": "utf8"}
    batch = client.post("/ner/batch", json={"documents": documents, **options}).json
    alone = [client.post("/ner", json=document | options).json for document in documents]
    assert batch["model"] == alone[0]["model"]
    assert batch["offset_unit"] == "utf8"
    assert [batch | document for document in batch["documents"]] == [
        answer | {"documents": batch["documents"]} for answer in alone
    ]


def test_an_option_that_is_null_counts_as_left_out(client: FlaskClient) -> None:
    options = {"model": None, "offset_unit": None}
    nulls = client.post("/ner", json={"text": "Jane", "tokens": None, "labels": None} | options)
    assert nulls.json == client.post("/ner", json={"text": "Jane"}).json


def test_an_empty_batch(client: FlaskClient) -> None:
    answer = client.post("/tag/batch", json={"documents": []})
    assert answer.status_code == 200
    assert answer.json["documents"] == []


def test_bad_documents_harm_no_others(client: FlaskClient) -> None:
    bad = {
        "/documents/0/text": ({"text": 5}, 422),
        "/documents/1": ({"text": "a", "tokens": []}, 422),
        "/documents/2/tokens/0/1": ({"tokens": [["a", "\u2028"]]}, 422),
        "/documents/3/text": ({"text": "a" * 1001}, 413),
        "/documents/4": (["a"], 422),
        "/documents/5/a~1b~0": ({"text": "a", "a/b~": 1}, 422),
        "/documents/6": ({"text": f"a {FAILING_WORD}"}, 500),
        "/documents/7/tokens": ({"tokens": [[]] * 1001}, 413),
    }
    documents = [document for document, _ in bad.values()] + [{"text": "a"}, {"text": "b"}]
    answer = client.post("/tag/batch", json={"documents": documents})
    assert answer.status_code == 200
    errors = [document["error"] for document in answer.json["documents"][: len(bad)]]
    assert [error["pointer"] for error in errors] == list(bad)
    assert [error["status"] for error in errors] == [status for _, status in bad.values()]
    good = answer.json["documents"][len(bad) :]
    assert [document["tokens"][0]["text"] for document in good] == ["a", "b"]


def test_of_duplicate_keys_the_last_wins(client: FlaskClient) -> None:
    body = b'{"text": "Jane", "text": "bill"}'
    answer = client.post("/tag", data=body, content_type="application/json").json
    assert [token["text"] for token in answer["tokens"]] == ["bill"]


@pytest.mark.parametrize("media_type", ["application/json; charset=utf-8", "Application/JSON"])
def test_spellings_of_the_media_type(client: FlaskClient, media_type: str) -> None:
    assert client.post("/tag", data=b'{"text":"a"}', content_type=media_type).status_code == 200


def test_answers_are_as_the_schemas_say(client: FlaskClient) -> None:
    documents = [{"text": TEXT}, {"tokens": [["a"] * 60]}, {"text": 1}, {"text": "a" * 1001}]
    for path, schema in (("/tag", TagAnswer), ("/ner", NerAnswer)):
        for document in documents[:2]:
            answer = client.post(path, json=document).json
            schema.model_validate(answer, strict=True, extra="forbid")
    for path, schema in (("/tag/batch", TagBatchAnswer), ("/ner/batch", NerBatchAnswer)):
        answer = client.post(path, json={"documents": documents}).json
        schema.model_validate(answer, strict=True, extra="forbid")
