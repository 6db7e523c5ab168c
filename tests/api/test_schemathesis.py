"""Whatever the OpenAPI document allows, and what it does not, is never a fault of the service."""

import schemathesis
from hypothesis import settings

from service.api.app import create_app
from service.config import Settings
from tests.api.fakes import rule_registry

SCHEMA = schemathesis.openapi.from_wsgi("/openapi.json", create_app(Settings(), rule_registry()))


@SCHEMA.parametrize()
@settings(max_examples=50)
def test_no_answer_is_a_fault(case: schemathesis.Case) -> None:
    answer = case.call()
    assert answer.status_code < 500
    assert "json" in answer.headers["Content-Type"][0] or answer.status_code == 200
