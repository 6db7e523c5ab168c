"""The OpenAPI 3.1 document, made of the schemas that requests are validated with."""

from typing import Any

from openapi_pydantic import (
    Components,
    Header,
    Info,
    MediaType,
    OpenAPI,
    Operation,
    Parameter,
    PathItem,
    Reference,
    RequestBody,
    Response,
    Responses,
    SecurityScheme,
)
from openapi_pydantic.util import PydanticSchema, construct_open_api_with_schema_class
from pydantic import BaseModel

from service import __version__
from service.api import access, body, forms, problems, schemas, streams
from service.api import answer_schemas as answers
from service.api.compat import huggingface, presidio
from service.api.monitoring.trace_context import REQUEST_ID

_TAG_ERRORS = (
    problems.MALFORMED_JSON,
    problems.INCOMPLETE_BODY,
    problems.UNAUTHORIZED,
    problems.MODEL_NOT_FOUND,
    problems.MODEL_NOT_LOADED,
    problems.LIMIT_EXCEEDED,
    problems.UNSUPPORTED_MEDIA_TYPE,
    problems.UNSUPPORTED_ENCODING,
    problems.UNSUPPORTED_TRANSFER_CODING,
    problems.INVALID_REQUEST,
    problems.INTERNAL,
    problems.REQUEST_TIMEOUT,
    problems.OVERLOADED,
    problems.DEADLINE_EXCEEDED,
)


def openapi_document() -> dict[str, Any]:
    """The document as JSON-ready dicts."""
    document = OpenAPI(
        openapi="3.1.1",
        info=Info(
            title="Trellis",
            version=__version__,
            summary="Tags sequences: parts of speech and named entities.",
            description="Ranges are half-open. Of duplicate keys in an object the last wins.",
        ),
        paths={
            "/tag": _document(
                "tag",
                "Tag parts of speech",
                schemas.TagRequest,
                answers.TagAnswer,
            ),
            "/ner": _document(
                "ner",
                "Find named entities",
                schemas.NerRequest,
                answers.NerAnswer,
            ),
            "/tag/batch": _batch(
                "tagBatch",
                "Tag parts of speech in many documents",
                _json(schemas.TagBatchRequest) | _lines(schemas.Document),
                _json(answers.TagBatchAnswer) | _lines(answers.TagLine),
                schemas.TagOptions,
            ),
            "/ner/batch": _batch(
                "nerBatch",
                "Find named entities in many documents",
                _json(schemas.NerBatchRequest) | _lines(schemas.ConstrainedDocument),
                _json(answers.NerBatchAnswer) | _lines(answers.NerLine),
                schemas.NerOptions,
            ),
            "/compat/huggingface": _post(
                "huggingface",
                "Find named entities, as Hugging Face's inference API does",
                _json(huggingface.TokenClassificationRequest),
                _json(huggingface.TokenClassificationAnswer),
            ),
            "/compat/presidio/analyze": _post(
                "presidioAnalyze",
                "Find persons, locations and organizations, as Presidio's analyzer does",
                _json(presidio.AnalyzeRequest),
                _json(presidio.AnalyzeAnswer),
            ),
            "/models": _get("models", "All models", answers.ModelsAnswer, problems.UNAUTHORIZED),
            "/models/{name}": _get(
                "model",
                "One model",
                answers.ModelDescription,
                problems.UNAUTHORIZED,
                problems.MODEL_NOT_FOUND,
                parameters=[_NAME],
            ),
            "/livez": _get("livez", "Whether the process answers", answers.StatusAnswer),
            "/readyz": _get(
                "readyz",
                "Whether every loaded model has decoded a sentence, and there is one",
                answers.StatusAnswer,
                problems.NOT_READY,
            ),
            "/health": _get(
                "health", "Version, models and state", answers.HealthAnswer, problems.NOT_READY
            ),
            "/version": _get("version", "What runs here", answers.VersionAnswer),
            "/metrics": _metrics(),
        },
        components=Components(securitySchemes=_KEYS),
        security=[{}, {"bearer": []}, {"header": []}],  # none, where no keys are set
    )
    finished = construct_open_api_with_schema_class(document)
    return finished.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)


_KEYS: dict[str, SecurityScheme | Reference] = {
    "bearer": SecurityScheme(type="http", scheme="bearer"),
    "header": SecurityScheme.model_validate(
        {"type": "apiKey", "in": "header", "name": access.KEY_HEADER}
    ),
}
_HEADERS: dict[str, Header | Reference] = {
    REQUEST_ID: Header.model_validate(
        {
            "description": "The id of the request: its own, or a new one.",
            "schema": {"type": "string"},
        }
    )
}
_NAME = Parameter.model_validate(
    {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
)


_COLUMNS = {
    form: MediaType.model_validate({"schema": {"type": "string"}})
    for form in (forms.COLUMNS, forms.CONLLU)
}


def _document(
    name: str, summary: str, request: type[BaseModel], answer: type[BaseModel]
) -> PathItem:
    return _post(
        name,
        summary,
        _json(request) | _COLUMNS,
        _json(answer) | _COLUMNS,
        (problems.MALFORMED_COLUMNS, problems.NOT_ACCEPTABLE),
        _query(request, "columns"),
    )


def _batch(
    name: str,
    summary: str,
    request: dict[str, MediaType],
    answer: dict[str, MediaType],
    options: type[schemas.Options],
) -> PathItem:
    errors = (problems.NOT_ACCEPTABLE,)
    return _post(name, summary, request, answer, errors, _query(options, "a stream"))


def _query(request: type[BaseModel], form: str) -> list[Parameter | Reference]:
    """What a body that has no place for it leaves to the query string."""
    properties = request.model_json_schema(ref_template="#/components/schemas/{model}")[
        "properties"
    ]
    return [
        Parameter.model_validate(
            {"name": name, "in": "query", "description": f"Of {form} only.", "schema": schema}
        )
        for name, schema in properties.items()
        if name not in ("text", "tokens")
    ]


def _post(
    name: str,
    summary: str,
    request: dict[str, MediaType],
    answer: dict[str, MediaType],
    errors: tuple[problems.Kind, ...] = (),
    parameters: list[Parameter | Reference] | None = None,
) -> PathItem:
    return PathItem(
        post=Operation(
            operationId=name,
            summary=summary,
            parameters=parameters,
            requestBody=RequestBody(required=True, content=request),
            responses=_responses(answer, (*_TAG_ERRORS, *errors)),
        )
    )


def _get(
    name: str,
    summary: str,
    answer: type[BaseModel],
    *errors: problems.Kind,
    parameters: list[Parameter | Reference] | None = None,
) -> PathItem:
    return PathItem(
        get=Operation(
            operationId=name,
            summary=summary,
            parameters=parameters,
            responses=_responses(_json(answer), (*errors, problems.INTERNAL)),
        )
    )


def _metrics() -> PathItem:
    text = MediaType.model_validate({"schema": {"type": "string"}})
    return PathItem(
        get=Operation(
            operationId="metrics",
            summary="What monitors count, in Prometheus' text format",
            responses=_responses({"text/plain": text}, (problems.INTERNAL,)),
        )
    )


def _responses(answer: dict[str, MediaType], errors: tuple[problems.Kind, ...]) -> Responses:
    responses: Responses = {"200": Response(description="OK", headers=_HEADERS, content=answer)}
    for status in sorted({kind.status for kind in errors}):
        kinds = [kind for kind in errors if kind.status == status]
        responses[str(status)] = Response(
            description="; ".join(f"{kind.title} (`{kind.uri}`)" for kind in kinds),
            headers=_HEADERS,
            content=_content(problems.MEDIA_TYPE, answers.Problem),
        )
    return responses


def _lines(schema: type[BaseModel]) -> dict[str, MediaType]:
    """A stream, by the schema of its lines."""
    return _content(streams.MEDIA_TYPE, schema)


def _json(schema: type[BaseModel]) -> dict[str, MediaType]:
    return _content(body.MEDIA_TYPE, schema)


def _content(media_type: str, schema: type[BaseModel]) -> dict[str, MediaType]:
    return {media_type: MediaType(schema=PydanticSchema(schema_class=schema))}
