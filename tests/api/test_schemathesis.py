"""Whatever the OpenAPI document allows, and what it does not: no fault, no answer that it lacks."""

import json
from collections.abc import Callable

import schemathesis
from hypothesis import settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from service.api.app import create_app
from service.config import Settings
from tests.api.fakes import rule_registry


@schemathesis.serializer("application/x-conllu")
def columns(_: object, value: object) -> bytes:
    return str(value).encode("utf-8", "surrogatepass")


@schemathesis.serializer("application/x-ndjson")
def line(_: object, value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


SCHEMA = schemathesis.openapi.from_wsgi("/openapi.json", create_app(Settings(), rule_registry()))


LABELS = [operation.ok().label for operation in SCHEMA.get_all_operations()]


def _test_of(label: str) -> Callable[[schemathesis.Case], None]:
    """A test of one operation. Of a test of them all, pytest-xdist would run one operation."""

    @SCHEMA.include(name=label).parametrize()
    @settings(max_examples=30)
    def test_every_answer_is_one_of_the_document(case: schemathesis.Case) -> None:
        checks = [
            not_a_server_error,
            status_code_conformance,
            content_type_conformance,
            response_schema_conformance,
        ]
        case.validate_response(case.call(), checks=checks)

    return test_every_answer_is_one_of_the_document


for _label in LABELS:
    globals()[f"test_every_answer_is_one_of_the_document: {_label}"] = _test_of(_label)
