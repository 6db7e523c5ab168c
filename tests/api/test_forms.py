"""One document in columns: what is taken, what is given, and who is given what."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

JSON = "application/json"
COLUMNS = "text/tab-separated-values"
CONLLU = "application/x-conllu"
PATHS = ("/tag", "/ner")
TEXT = "Jane Villanueva, of\nUnited Airlines. The bill"
MARK = "Zaphod"

Row = tuple[str, str]


def post(client: FlaskClient, path: str, body: str, form: str, accept: str = JSON) -> Any:
    return client.post(path, data=body.encode(), headers={"Content-Type": form, "Accept": accept})


def columns_of(client: FlaskClient, path: str, form: str, **request: Any) -> str:
    answer = client.post(path, json=request, headers={"Accept": form})
    assert answer.status_code == 200
    assert answer.content_type == f"{form}; charset=utf-8"
    return answer.text


def sentences(answer: dict[str, Any]) -> list[list[Row]]:
    """Words and tags of a JSON answer."""
    tokens = [(token["text"], token["tag"]) for token in answer["tokens"]]
    return [tokens[s["token_start"] : s["token_end"]] for s in answer["sentences"]]


def columns(document: str, path: str, form: str) -> list[list[Row]]:
    """Words and tags of an answer in columns."""
    found = []
    for block in document.split("\n\n")[:-1]:
        fields = [line.split("\t") for line in block.split("\n")]
        if form == COLUMNS:
            found.append([(word, tag) for word, tag in fields])
            continue
        assert [line[0].split(" = ")[0] for line in fields[:2]] == ["# sent_id", "# text"]
        fields = fields[2:]
        if path == "/tag":
            found.append([(row[1], row[4]) for row in fields])
        else:
            found.append([(row[1], row[9].split("|")[0].removeprefix("NE=")) for row in fields])
    return found


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("form", [COLUMNS, CONLLU])
def test_columns_say_what_json_says(client: FlaskClient, path: str, form: str) -> None:
    plain = sentences(client.post(path, json={"text": TEXT}).json)
    assert len(plain) == 2
    document = columns_of(client, path, form, text=TEXT, offset_unit="utf8")
    assert columns(document, path, form) == plain


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(
        st.characters(exclude_categories=["Cs"]) | st.sampled_from("Jane .\n"), max_size=50
    )
)
def test_an_answer_in_columns_sent_back_gets_the_same_tags(client: FlaskClient, text: str) -> None:
    for path in PATHS:
        plain = sentences(client.post(path, json={"text": text}).json)
        for form in (COLUMNS, CONLLU):
            document = columns_of(client, path, form, text=text)
            assert sentences(post(client, path, document, form).json) == plain
            again = post(client, path, document, form, accept=form).text
            assert columns(again, path, form) == plain


def test_universal_tags_stand_in_their_column(client: FlaskClient) -> None:
    document = columns_of(client, "/tag", CONLLU, text="the bill", tagset="ud")
    assert [line.split("\t")[3:5] for line in document.split("\n")[2:4]] == [
        ["DET", "_"],
        ["NOUN", "_"],
    ]


@pytest.mark.parametrize(
    ("form", "body"),
    [
        (COLUMNS, "Jane\nleft\n\nYes"),
        (COLUMNS, "\ufeffJane\tNNP\tB-PER\r\nleft\tVBD\tO\r\n\r\n\r\nYes\t"),
        (CONLLU, "# text = Jane left\n1-2\tJaneleft{8}\n1\tJane{8}\n2\tleft{8}\n\n1\tYes{8}\n"),
    ],
)
def test_words_are_read_from_columns(client: FlaskClient, form: str, body: str) -> None:
    answer = post(client, "/tag", body.replace("{8}", "\t_" * 8), form).json
    words = [[word for word, _ in sentence] for sentence in sentences(answer)]
    assert words == [["Jane", "left"], ["Yes"]]
    assert {token["start"] for token in answer["tokens"]} == {None}


def test_options_of_columns_stand_in_the_query(client: FlaskClient) -> None:
    tagged = post(client, "/tag?tagset=ud&offset_unit=utf16", "the\n", COLUMNS).json
    assert (tagged["model"]["name"], tagged["offset_unit"]) == ("en-upos-crf", "utf16")
    path = "/ner?labels=ORG&labels=LOC&model=en-ner-crf"
    found = post(client, path, "Jane\n\nUnited\nAirlines\n", COLUMNS).json
    assert [span["text"] for span in found["spans"]] == ["United Airlines"]


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("labels=PER", "/labels"),
        ("tagset=x", "/tagset"),
        ("tagset=ud&tagset=ud", "/tagset"),
        ('text="the"', "/text"),
        ("tokens=[[]]", "/tokens"),
        (f"{MARK}=1", f"/{MARK}"),
    ],
)
def test_a_wrong_option_is_named(client: FlaskClient, query: str, pointer: str) -> None:
    answer = post(client, f"/tag?{query}", "the\n", COLUMNS)
    assert (answer.status_code, answer.json["pointer"]) == (422, pointer)


def test_a_text_beside_columns_is_refused_for_what_it_is(client: FlaskClient) -> None:
    answer = post(client, "/tag?text=the", "the\n", COLUMNS)  # no JSON, but that is not the point
    assert answer.json["detail"] == "The body holds the tokens"


@pytest.mark.parametrize(
    ("form", "body", "says"),
    [
        (COLUMNS, f"{MARK}\tO\n\n\t{MARK}\n", "line 3: the word"),
        (COLUMNS, f"{MARK}\tO\n\u2028\t{MARK}", "line 2: the word"),
        (CONLLU, f"# {MARK}\n1\t{MARK}\n", "line 2: expected 10 columns, found 2"),
        (CONLLU, f"1\t\t{MARK}" + "\t_" * 7, "line 1: the word"),
    ],
)
def test_malformed_columns_are_named_by_their_line(
    client: FlaskClient, form: str, body: str, says: str
) -> None:
    answer = post(client, "/ner", body, form)
    assert answer.status_code == 400
    assert answer.json["type"] == "urn:trellis:problem:malformed-columns"
    assert answer.json["detail"].startswith(says)
    assert MARK not in answer.text


def test_columns_that_are_not_utf8(client: FlaskClient) -> None:
    answer = client.post("/ner", data=b"a\tO\n\xff\tO\n", content_type=COLUMNS)
    assert (answer.status_code, answer.json["detail"]) == (400, "line 2: not valid UTF-8")


def test_limits_hold_for_columns(client: FlaskClient) -> None:
    for body, pointer in (("a\n" * 1001, "/tokens"), ("a" * 100_001, "")):
        answer = post(client, "/tag", body, COLUMNS)
        assert (answer.status_code, answer.json["pointer"]) == (413, pointer)


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("*/*", JSON),
        ("", JSON),
        ("application/json; charset=utf-8", JSON),
        ("text/html, */*;q=0.1", JSON),
        ("application/*", JSON),
        ("text/*", COLUMNS),
        ("Text/Tab-Separated-Values", COLUMNS),
        ("application/json;q=0.5, application/x-conllu", CONLLU),
        ("application/json;q=0.5, application/x-conllu;q=0.4, */*;q=0.1", JSON),
        ("application/json;q=0, */*;q=0.1", COLUMNS),
        ("text/html", None),
        ("*/*;q=0", None),
        ("application/x-ndjson", None),
    ],
)
def test_the_form_is_the_one_that_is_liked_best(
    client: FlaskClient, accept: str, form: str | None
) -> None:
    for path in PATHS:
        answer = client.post(path, json={"text": "the"}, headers={"Accept": accept})
        if form is None:
            assert answer.status_code == 406
            assert answer.content_type == "application/problem+json"
            assert answer.json["allowed"] == [JSON, COLUMNS, CONLLU]
            assert all(allowed in answer.json["detail"] for allowed in answer.json["allowed"])
        else:
            assert (answer.status_code, answer.mimetype) == (200, form)


def test_a_batch_is_given_in_no_columns(client: FlaskClient) -> None:
    body = {"documents": [{"text": "the"}]}
    for form in (COLUMNS, CONLLU):
        answer = client.post("/ner/batch", json=body, headers={"Accept": form})
        assert (answer.status_code, answer.json["allowed"]) == (406, [JSON])
        answer = post(client, "/ner/batch", "the\n", form)
        assert (answer.status_code, answer.json["allowed"]) == (415, [JSON, "application/x-ndjson"])


@pytest.mark.parametrize("unfit", "\t\n\r")
@pytest.mark.parametrize("form", [COLUMNS, CONLLU])
def test_a_token_that_does_not_fit_in_columns(client: FlaskClient, form: str, unfit: str) -> None:
    request = {"tokens": [["the", f"{MARK}{unfit}{MARK}"]]}
    answer = client.post("/tag", json=request, headers={"Accept": form})
    assert (answer.status_code, answer.json["allowed"]) == (406, [JSON])
    assert "a tab or a line break" in answer.json["detail"]
    assert MARK not in answer.text


@pytest.mark.parametrize("odd", ["a b", "\x0b.", "\x85.", "\u2028.", "#", "_", "1\\p|"])
def test_other_odd_tokens_fit(client: FlaskClient, odd: str) -> None:
    for form in (COLUMNS, CONLLU):
        document = columns_of(client, "/tag", form, tokens=[["the", odd]])
        again = post(client, "/tag", document, form).json
        assert [token["text"] for token in again["tokens"]] == ["the", odd]


@pytest.mark.parametrize(
    "option", [{"confidence": True}, {"marginals": True}, {"n_best": 1}, {"explain": True}]
)
def test_what_has_no_place_in_columns_is_not_left_out(
    client: FlaskClient, option: dict[str, Any]
) -> None:
    for form in (COLUMNS, CONLLU):
        answer = client.post("/ner", json={"text": "Jane"} | option, headers={"Accept": form})
        assert (answer.status_code, answer.json["allowed"]) == (406, [JSON])


def test_options_that_are_no_strings_are_json(client: FlaskClient) -> None:
    query = "confidence=true&threshold=0.25&n_best=2&sentences=false&marginals=null"
    options = {"confidence": True, "threshold": 0.25, "n_best": 2, "sentences": False}
    there = client.post("/ner", json={"tokens": [["Jane"], ["United"]]} | options).json
    assert post(client, f"/ner?{query}", "Jane\n\nUnited\n", COLUMNS).json == there
    known = [{"token_start": 0, "token_end": 1, "label": "LOC", "mode": "span"}]
    there = client.post("/ner", json={"tokens": [["Jane"]], "constraints": known}).json
    assert [span["label"] for span in there["spans"]] == ["LOC"]
    path = "/ner?" + urlencode({"constraints": json.dumps(known)})
    assert post(client, path, "Jane\n", COLUMNS).json == there
    for name, value in (("confidence", "yes"), ("confidence", "1"), ("n_best", "2.5")):
        answer = post(client, f"/ner?{name}={value}", "Jane\n", COLUMNS)
        assert (answer.status_code, answer.json["pointer"]) == (422, f"/{name}")


@pytest.mark.parametrize("path", ["/tag", "/ner", "/tag/batch", "/ner/batch"])
def test_an_option_of_json_in_the_query_is_not_ignored(client: FlaskClient, path: str) -> None:
    document: dict[str, Any] = {"text": TEXT}
    body = {"documents": [document]} if path.endswith("batch") else document
    answer = client.post(f"{path}?confidence=true", json=body)
    assert answer.status_code == 422
    assert "not in its query string" in answer.json["detail"]
