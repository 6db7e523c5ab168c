"""Spans of OpenTelemetry: they arrive at a collector, and cost nothing where they are off."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from service.api.app import create_app
from service.config import Settings
from service.errors import SettingError
from tests.api.conftest import ROOT, serving
from tests.api.fakes import FAILING_WORD, rule_registry
from tests.api.test_request_ids import SPAN_ID, TRACE_ID, TRACEPARENT
from tests.api.test_server import TIMEOUT_S


class Collector(ThreadingHTTPServer):
    """Takes spans as OpenTelemetry's collector does."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[ExportTraceServiceRequest] = []

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for request in self.requests
            for of_resource in request.resource_spans
            for of_scope in of_resource.scope_spans
            for span in of_scope.spans
        ]


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert self.path == "/v1/traces"
        self.server.requests.append(ExportTraceServiceRequest.FromString(body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Be quiet."""


@contextmanager
def collecting() -> Iterator[Collector]:
    with Collector() as collector:
        thread = threading.Thread(target=collector.serve_forever)
        thread.start()
        try:
            yield collector
        finally:
            collector.shutdown()
            thread.join()


def attributes(span: Span) -> dict[str, Any]:
    return {
        each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes
    }


def test_a_request_is_a_span_of_the_trace_of_its_caller(tmp_path: Path) -> None:
    with collecting() as collector:
        environment = {
            "TRELLIS_TRACING": "true",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
            "OTEL_SERVICE_NAME": "ours",
        }
        headers = {"traceparent": TRACEPARENT, "X-Request-ID": "mine"}
        with serving("tests.api.served:app", tmp_path / "log", **environment) as server:
            for text in ("the bill", FAILING_WORD):
                answer = requests.post(
                    f"{server.url}/tag", json={"text": text}, headers=headers, timeout=TIMEOUT_S
                )
                assert f"00-{TRACE_ID}-" in answer.headers["Server-Timing"]
            requests.get(f"{server.url}/livez", timeout=TIMEOUT_S)
        # a worker that ends sends what it still has
        good, bad = sorted(collector.spans, key=lambda span: span.start_time_unix_nano)
        assert good.name == "POST /tag"
        assert good.kind == Span.SPAN_KIND_SERVER
        assert good.trace_id.hex() == TRACE_ID
        assert good.parent_span_id.hex() == SPAN_ID
        assert good.end_time_unix_nano > good.start_time_unix_nano
        found = attributes(good)
        assert found["http.route"] == "/tag"
        assert found["http.response.status_code"] == 200
        assert found["trellis.model"] == "en-pos-crf"
        assert found["trellis.tokens"] == 2
        assert found["trellis.score_s"] > 0
        assert attributes(bad)["error.type"] == "internal-error"
        assert bad.status.code == Status.STATUS_CODE_ERROR
        assert FAILING_WORD not in str(collector.requests)
        [name] = {
            each.value.string_value
            for request in collector.requests
            for each in request.resource_spans[0].resource.attributes
            if each.key == "service.name"
        }
        assert name == "ours"
        assert good.span_id.hex() in (tmp_path / "log").read_text()


def test_where_it_is_off_nothing_of_it_is_imported() -> None:
    code = (
        "import sys, tests.api.served; "
        "sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_where_it_is_on_and_not_installed_the_start_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "service.api.monitoring.tracing", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(SettingError, match=r"^TRELLIS_TRACING: .* extra tracing"):
        create_app(Settings(tracing=True), rule_registry())
