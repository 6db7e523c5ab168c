"""The paths of the service; each turns a request over to what answers it."""

import platform
from functools import cache
from typing import Any, TypeVar

import orjson
from flask import Blueprint, Response, request

from service import __version__
from service.api.annotator import Annotator
from service.api.body import MEDIA_TYPE, read_json
from service.api.catalogue import catalogue, described
from service.api.health import Readiness, health, ready
from service.api.schemas import (
    NerBatchRequest,
    NerRequest,
    TagBatchRequest,
    TagRequest,
    validated,
)
from service.api.selection import Selection, select_recogniser, select_tagger
from service.config import Settings
from service.store.registry import Registry

R = TypeVar("R", TagRequest, NerRequest, TagBatchRequest, NerBatchRequest)


def tagging_routes(settings: Settings, registry: Registry, annotator: Annotator) -> Blueprint:
    """`/tag`, `/ner` and their batches."""
    routes = Blueprint("tagging", __name__)

    def received(schema: type[R]) -> R:
        return validated(schema, read_json(request, settings.max_body_bytes))

    def one(document: TagRequest | NerRequest, selection: Selection) -> Response:
        return _json(_head(selection) | annotator.answer(document, selection))

    def many(batch: TagBatchRequest | NerBatchRequest, selection: Selection) -> Response:
        answers = annotator.batch_answers(batch.documents, selection)
        return _json(_head(selection) | {"documents": answers})

    @routes.post("/tag")
    def tag() -> Response:
        document = received(TagRequest)
        return one(document, select_tagger(registry, document))

    @routes.post("/ner")
    def ner() -> Response:
        document = received(NerRequest)
        return one(document, select_recogniser(registry, document, annotator.tokenizer))

    @routes.post("/tag/batch")
    def tag_batch() -> Response:
        batch = received(TagBatchRequest)
        return many(batch, select_tagger(registry, batch))

    @routes.post("/ner/batch")
    def ner_batch() -> Response:
        batch = received(NerBatchRequest)
        return many(batch, select_recogniser(registry, batch, annotator.tokenizer))

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
        return Response(_openapi(), content_type=MEDIA_TYPE)

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
    return Response(orjson.dumps(value), content_type=MEDIA_TYPE)
