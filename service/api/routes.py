"""The paths of the service; each turns a request over to what answers it."""

import platform
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

import orjson
from flask import Blueprint, Response, request
from flask.globals import request_ctx

from service import __version__
from service.api.annotator import Annotator
from service.api.body import MEDIA_TYPE as JSON
from service.api.body import check_headers, read_json
from service.api.catalogue import catalogue, described
from service.api.forms import COLUMNS, CONLLU, FORMS, check_columns, columns_response, read_columns
from service.api.health import Readiness, health, ready
from service.api.negotiation import accepted
from service.api.query import query_values
from service.api.schemas import (
    NerBatchRequest,
    NerOptions,
    NerRequest,
    TagBatchRequest,
    TagOptions,
    TagRequest,
    validated,
)
from service.api.selection import Selection, select_recogniser, select_tagger
from service.api.streams import MEDIA_TYPE as NDJSON
from service.api.streams import stream_response
from service.config import Settings
from service.errors import InputError
from service.store.registry import Registry

R = TypeVar("R", TagRequest, NerRequest)
B = TypeVar("B", TagBatchRequest, NerBatchRequest)
O = TypeVar("O", TagOptions, NerOptions)  # noqa: E741


def tagging_routes(settings: Settings, registry: Registry, annotator: Annotator) -> Blueprint:
    """`/tag`, `/ner` and their batches."""
    routes = Blueprint("tagging", __name__)
    limit = settings.max_body_bytes
    tokenizer = annotator.tokenizer

    def json_body(media_types: Sequence[str]) -> object:
        asked = request_ctx.request  # itself, not the proxy, which is slower to look into
        if asked.query_string:
            raise InputError("Options stand in the body of a JSON request, not in its query string")
        return read_json(asked, limit, media_types)

    def received(schema: type[R]) -> R:
        asked = request_ctx.request
        if asked.mimetype in (COLUMNS, CONLLU):
            return validated(schema, read_columns(asked, limit))
        return validated(schema, json_body(FORMS))

    def one(document: TagRequest | NerRequest, selection: Selection, form: str) -> Response:
        if form == JSON:
            return _json(_head(selection) | annotator.answer(document, selection))
        check_columns(selection)
        annotation = annotator.annotation(document, selection)
        return columns_response(form, annotation, document.text, selection)

    def received_batch(schema: type[B]) -> B:
        accepted(request, (JSON,))
        return validated(schema, json_body([JSON, NDJSON]))

    def many(batch: TagBatchRequest | NerBatchRequest, selection: Selection) -> Response:
        answers = annotator.batch_answers(batch.documents, selection)
        return _json(_head(selection) | {"documents": answers})

    def asked_of_stream(options: type[O]) -> O:
        accepted(request, (NDJSON,))
        check_headers(request, [NDJSON])
        return validated(options, query_values(request.args))

    def stream(selection: Selection) -> Response:
        return stream_response(request, annotator, selection, _head(selection), settings)

    @routes.post("/tag")
    def tag() -> Response:
        form = accepted(request_ctx.request, FORMS)
        document = received(TagRequest)
        return one(document, select_tagger(registry, document), form)

    @routes.post("/ner")
    def ner() -> Response:
        form = accepted(request_ctx.request, FORMS)
        document = received(NerRequest)
        return one(document, select_recogniser(registry, document, tokenizer), form)

    @routes.post("/tag/batch")
    def tag_batch() -> Response:
        if request.mimetype == NDJSON:
            return stream(select_tagger(registry, asked_of_stream(TagOptions)))
        batch = received_batch(TagBatchRequest)
        return many(batch, select_tagger(registry, batch))

    @routes.post("/ner/batch")
    def ner_batch() -> Response:
        if request.mimetype == NDJSON:
            options = asked_of_stream(NerOptions)
            return stream(select_recogniser(registry, options, tokenizer))
        batch = received_batch(NerBatchRequest)
        return many(batch, select_recogniser(registry, batch, tokenizer))

    return routes


def state_routes(registry: Registry, readiness: Readiness) -> Blueprint:
    """What monitors, orchestrators and the curious ask. Nothing in it changes after the start."""
    routes = Blueprint("state", __name__)
    models = catalogue(registry)

    @routes.get("/livez")
    def livez() -> Response:
        return _json({"status": "ok"})

    @routes.get("/readyz")
    def readyz() -> Response:
        return _json(ready(readiness))

    @routes.get("/health")
    def health_() -> Response:
        return _json(health(registry, readiness))

    @routes.get("/version")
    def version() -> Response:
        python = platform.python_version()
        return _json({"name": "trellis-tagger", "version": __version__, "python": python})

    @routes.get("/models")
    def models_() -> Response:
        return _json({"models": list(models.values())})

    @routes.get("/models/<name>")
    def model(name: str) -> Response:
        return _json(described(models, name))

    @routes.get("/openapi.json")
    def openapi() -> Response:
        return Response(_openapi(), content_type=JSON)

    return routes


@cache
def _openapi() -> bytes:
    # What the document is made with takes as long to import as a model to load, and most servers
    # are never asked for it.
    from service.api.openapi import openapi_document

    return orjson.dumps(openapi_document())


def _head(selection: Selection) -> dict[str, Any]:
    manifest = selection.model.manifest
    model = {"name": manifest.name, "version": manifest.version}
    return {"model": model, "offset_unit": selection.unit}


def _json(value: object) -> Response:
    return Response(orjson.dumps(value), content_type=JSON)
