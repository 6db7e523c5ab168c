"""Whatever the OpenAPI document allows, and what it does not: no fault, no answer that it lacks."""

import json

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


@SCHEMA.parametrize()
@settings(max_examples=30)
def test_every_answer_is_one_of_the_document(case: schemathesis.Case) -> None:
    checks = [
        not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        response_schema_conformance,
    ]
    case.validate_response(case.call(), checks=checks)
