"""Spans of OpenTelemetry: one a request, sent by OTLP. It is imported only where tracing is on.

Where spans go and which are kept, its own variables say, such as `OTEL_EXPORTER_OTLP_ENDPOINT` and
`OTEL_TRACES_SAMPLER`. A span has the time of each stage as an attribute: spans of these, which
follow each other many times in a batch, would cost more than they tell.
"""

import os
from collections.abc import Mapping
from threading import Lock

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.environment_variables import OTEL_SERVICE_NAME
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import (
    SpanKind,
    StatusCode,
    Tracer,
    format_span_id,
    format_trace_id,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from service import __version__
from service.api.monitoring.record import RequestRecord
from service.api.monitoring.trace_context import TraceContext


class Tracing:
    """Makes the spans of a process; what sends them is made with the first, after the fork."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._made: Tracer | None = None
        self._propagator = TraceContextTextMapPropagator()

    def begin(self, record: RequestRecord, headers: Mapping[str, str]) -> None:
        """Begin the span of a request, in the trace that its headers, in lower case, name."""
        span = self._tracer().start_span(
            f"{record.method} {record.route}",
            context=self._propagator.extract(headers),
            kind=SpanKind.SERVER,
            attributes={"http.request.method": record.method, "http.route": record.route},
        )
        place = span.get_span_context()
        record.span = span
        record.trace = TraceContext(
            format_trace_id(place.trace_id),
            format_span_id(place.span_id),
            f"{place.trace_flags:02x}",
        )

    def end(self, record: RequestRecord) -> None:
        """End the span of a request that has ended."""
        span = record.span
        if span is None:
            return
        span.set_attributes(
            {
                "http.response.status_code": record.status,
                "trellis.request_id": record.request_id,
                "trellis.model": record.model,
                "trellis.documents": record.documents,
                "trellis.tokens": record.tokens,
                "trellis.characters": record.characters,
                **{f"trellis.{name}_s": seconds for name, seconds in record.stage_s.items()},
            }
        )
        if record.problem:
            span.set_attribute("error.type", record.problem)
        if record.status >= 500:
            span.set_status(StatusCode.ERROR)
        span.end()

    def _tracer(self) -> Tracer:
        with self._lock:
            if self._made is None:
                name = os.environ.get(OTEL_SERVICE_NAME, "trellis")
                resource = Resource.create({SERVICE_NAME: name, SERVICE_VERSION: __version__})
                provider = TracerProvider(resource=resource)
                provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
                self._made = provider.get_tracer("trellis", __version__)
            return self._made
