"""The paths of what other services' clients ask. Errors are problems like all others."""

import orjson
from flask import Blueprint, Response, request

from service.api.annotator import Annotator
from service.api.body import MEDIA_TYPE, read_json
from service.api.compat.huggingface import TokenClassificationRequest, classify_tokens
from service.api.compat.presidio import AnalyzeRequest, analyze
from service.api.schemas import validated
from service.config import Settings
from service.store.registry import Registry


def compat_routes(settings: Settings, registry: Registry, annotator: Annotator) -> Blueprint:
    """`/compat/huggingface` and `/compat/presidio/analyze`."""
    routes = Blueprint("compat", __name__, url_prefix="/compat")
    limit = settings.max_body_bytes

    @routes.post("/huggingface")
    def huggingface() -> Response:
        asked = validated(TokenClassificationRequest, read_json(request, limit))
        return _json(classify_tokens(asked, registry, annotator))

    @routes.post("/presidio/analyze")
    def presidio() -> Response:
        asked = validated(AnalyzeRequest, read_json(request, limit))
        return _json(analyze(asked, registry, annotator))

    return routes


def _json(value: object) -> Response:
    return Response(orjson.dumps(value), content_type=MEDIA_TYPE)
