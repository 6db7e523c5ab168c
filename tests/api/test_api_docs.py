"""`docs/api/`: it leaves out no path, option, error and limit. tests/system/test_docs.py asks."""

import json
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, get_args

import pytest
from flask.testing import FlaskClient
from pydantic import BaseModel

from documentation.blocks import steps
from service.api import problems, refusal
from service.api.compat.huggingface import Parameters, TokenClassificationRequest
from service.api.compat.presidio import AnalyzeRequest
from service.api.schemas import Constraint, DictionaryEntry, NerRequest, TagRequest
from service.config import Settings
from service.decoding import Mode
from tests.api.conftest import ROOT

PAGES = [ROOT / "docs" / "api.md", *sorted((ROOT / "docs" / "api").glob("*.md"))]
OVERVIEW = PAGES[0].read_text(encoding="utf-8")
ERRORS = (ROOT / "docs" / "api" / "errors.md").read_text(encoding="utf-8")
COMMANDS = [
    block.text
    for page in PAGES
    for block, _ in steps(page.read_text(encoding="utf-8"))
    if block.kind == "sh"
]
# What clients of Presidio and of Hugging Face may send, and what changes nothing.
WITHOUT_EFFECT = {
    "stride",
    "allow_list_match",
    "ad_hoc_recognizers",
    "return_decision_process",
    "correlation_id",
    "context",
    "regex_flags",
    "trace",
}


def _bodies() -> Iterator[Any]:
    for command in COMMANDS:
        words = shlex.split(command)
        for option, value in pairwise(words):
            if option in ("--json", "-d"):
                yield json.loads(value)


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    """Names and values of all objects in a value."""
    if isinstance(value, dict):
        yield from value.items()
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, (dict, list)):
            yield from _members(part)


MEMBERS = [member for body in _bodies() for member in _members(body)]


@pytest.mark.parametrize(
    "schema",
    [
        *(TagRequest, NerRequest, Constraint, DictionaryEntry),
        *(TokenClassificationRequest, Parameters, AnalyzeRequest),
    ],
)
def test_every_field_of_a_request_has_an_example(schema: type[BaseModel]) -> None:
    assert set(schema.model_fields) - {name for name, _ in MEMBERS} <= WITHOUT_EFFECT


def test_every_mode_of_a_constraint_has_an_example() -> None:
    assert {value for name, value in MEMBERS if name == "mode"} == set(get_args(Mode))


def test_the_table_of_options_is_whole() -> None:
    options = {*TagRequest.model_fields, *NerRequest.model_fields} - {"text", "tokens"}
    rows = re.findall(r"^\| `(\w+)` \| (?:all|`/tag`|`/ner`) \|", OVERVIEW, re.MULTILINE)
    assert sorted(rows) == sorted(options)


def test_every_path_has_an_example(client: FlaskClient) -> None:
    paths = set(client.get("/openapi.json").json["paths"])
    asked = {path for text in COMMANDS for path in re.findall(r"localhost:8080(/[\w/.-]*)", text)}
    assert {path.replace("{name}", "en-pos-janet") for path in paths} <= asked
    assert {path for path in paths if f"`{path}`" in OVERVIEW or f" {path}`" in OVERVIEW} == paths


def test_the_table_of_errors_is_whole() -> None:
    kinds = [kind for module in (problems, refusal) for kind in vars(module).values()]
    there_are = {(k.status, k.name) for k in kinds if isinstance(k, problems.Kind)}
    rows = re.findall(r"^\| (\d{3}) \| `([a-z-]+)` \|", ERRORS, re.MULTILINE)
    assert {(int(status), name) for status, name in rows} == there_are


def test_the_table_of_limits_is_right() -> None:
    rows = re.findall(r"^\| .* \| ([\d,]+)[^|]*\| `TRELLIS_(\w+)` \|$", ERRORS, re.MULTILINE)
    limits = {name.lower(): int(number.replace(",", "")) for number, name in rows}
    assert set(limits) == {name for name in Settings.model_fields if name.startswith("max_")} - {
        "max_unseen_words"
    }
    for name, limit in limits.items():
        assert Settings.model_fields[name].default == limit
