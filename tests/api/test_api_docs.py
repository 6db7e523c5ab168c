"""`docs/api.md`: each example is answered as it says, and its tables name what there is."""

import json
import re
from typing import Any, NamedTuple

import pytest
from flask.testing import FlaskClient

from service.api import problems, refusal
from service.config import Settings
from tests.api.conftest import ROOT

DOCUMENT = (ROOT / "docs" / "api.md").read_text()
NAMED = {"/models/{name}": "/models/en-upos-crf"}


class Example(NamedTuple):
    """A request of the document, and the answer under it."""

    method: str
    path: str
    body: Any
    answer: Any


def _examples() -> list[Example]:
    examples = []
    for section in re.split(r"^### ", DOCUMENT, flags=re.MULTILINE)[1:]:
        method, path = re.findall(r"`(GET|POST) (\S+)`", section)[0]
        blocks = [json.loads(b) for b in re.findall(r"```json\n(.*?)```", section, re.DOTALL)]
        if method == "GET":
            blocks = [None, *blocks]
        pairs = zip(blocks[::2], blocks[1::2], strict=True)
        examples += [Example(method, path, body, answer) for body, answer in pairs]
    return examples


EXAMPLES = _examples()


def _shape(value: Any) -> Any:
    """A value without what differs from one installation to another."""
    if isinstance(value, dict):
        return {key: _shape(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_shape(part) for part in value[:1]]
    return type(value).__name__


def _rounded(value: Any) -> Any:
    """A value with its probabilities as the document shows them."""
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    return round(value, 4) if isinstance(value, float) else value


@pytest.mark.parametrize("example", EXAMPLES)
def test_example(client: FlaskClient, example: Example) -> None:
    path = NAMED.get(example.path, example.path)
    content = {} if example.body is None else {"json": example.body}
    answer = client.open(path, method=example.method, **content).json
    if example.method == "GET":
        assert _shape(answer) == _shape(example.answer)
    else:
        assert _rounded(answer) == _rounded(example.answer)


@pytest.mark.parametrize("form", ["tsv", "conllu"])
def test_example_of_columns(client: FlaskClient, form: str) -> None:
    pattern = (
        rf"`POST (\S+)` with `Accept: (\S+)` and the body\s`([^`]*)`:\n\n```{form}\n([^`]*)```"
    )
    [(path, accept, body, expected)] = re.findall(pattern, DOCUMENT)
    headers = {"Content-Type": "application/json", "Accept": accept}
    assert client.post(path, data=body, headers=headers).text == expected


def test_example_of_a_stream(client: FlaskClient) -> None:
    [path] = re.findall(r"`POST (/\S+\?\S+)`:", DOCUMENT)
    documents, answers = re.findall(r"```ndjson\n(.*?)```", DOCUMENT, re.DOTALL)
    answer = client.post(path, data=documents, content_type="application/x-ndjson")
    assert answer.text == answers


def test_every_path_has_an_example(client: FlaskClient) -> None:
    paths = set(client.get("/openapi.json").json["paths"])
    assert {example.path for example in EXAMPLES} | {"/metrics"} == paths


def test_the_table_of_errors_is_whole() -> None:
    kinds = [kind for module in (problems, refusal) for kind in vars(module).values()]
    there_are = {(k.status, k.name) for k in kinds if isinstance(k, problems.Kind)}
    rows = re.findall(r"^\| (\d{3}) \| `([a-z-]+)` \|", DOCUMENT, re.MULTILINE)
    assert {(int(status), name) for status, name in rows} == there_are


def test_the_table_of_limits_is_right() -> None:
    rows = re.findall(r"^\| .* \| ([\d,]+)[^|]*\| `TRELLIS_(\w+)` \|$", DOCUMENT, re.MULTILINE)
    limits = {name.lower(): int(number.replace(",", "")) for number, name in rows}
    assert set(limits) == {name for name in Settings.model_fields if name.startswith("max_")} - {
        "max_unseen_words"
    }
    for name, limit in limits.items():
        assert Settings.model_fields[name].default == limit
