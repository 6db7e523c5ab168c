"""The OpenAPI 3.1 document, made of the schemas that requests are validated with."""

from typing import Any

from openapi_pydantic import (
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
)
from openapi_pydantic.util import PydanticSchema, construct_open_api_with_schema_class
from pydantic import BaseModel

from service import __version__
from service.api import answer_schemas as answers
from service.api import body, problems, schemas

_TAG_ERRORS = (
    problems.MALFORMED_JSON,
    problems.INCOMPLETE_BODY,
    problems.MODEL_NOT_FOUND,
    problems.MODEL_NOT_LOADED,
    problems.LIMIT_EXCEEDED,
    problems.UNSUPPORTED_MEDIA_TYPE,
    problems.UNSUPPORTED_ENCODING,
    problems.UNSUPPORTED_TRANSFER_CODING,
    problems.INVALID_REQUEST,
    problems.INTERNAL,
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
            "/tag": _post("tag", "Tag parts of speech", schemas.TagRequest, answers.TagAnswer),
            "/ner": _post("ner", "Find named entities", schemas.NerRequest, answers.NerAnswer),
            "/tag/batch": _post(
                "tagBatch",
                "Tag parts of speech in many documents",
                schemas.TagBatchRequest,
                answers.TagBatchAnswer,
            ),
            "/ner/batch": _post(
                "nerBatch",
                "Find named entities in many documents",
                schemas.NerBatchRequest,
                answers.NerBatchAnswer,
            ),
            "/models": _get("models", "All models", answers.ModelsAnswer),
            "/models/{name}": _get(
                "model",
                "One model",
                answers.ModelDescription,
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
        },
    )
    finished = construct_open_api_with_schema_class(document)
    return finished.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)


_NAME = Parameter.model_validate(
    {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
)


def _post(name: str, summary: str, request: type[BaseModel], answer: type[BaseModel]) -> PathItem:
    return PathItem(
        post=Operation(
            operationId=name,
            summary=summary,
            requestBody=RequestBody(required=True, content=_content(body.MEDIA_TYPE, request)),
            responses=_responses(answer, _TAG_ERRORS),
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
            responses=_responses(answer, (*errors, problems.INTERNAL)),
        )
    )


def _responses(answer: type[BaseModel], errors: tuple[problems.Kind, ...]) -> Responses:
    responses: Responses = {
        "200": Response(description="OK", content=_content(body.MEDIA_TYPE, answer))
    }
    for status in sorted({kind.status for kind in errors}):
        kinds = [kind for kind in errors if kind.status == status]
        responses[str(status)] = Response(
            description="; ".join(f"{kind.title} (`{kind.uri}`)" for kind in kinds),
            content=_content(problems.MEDIA_TYPE, answers.Problem),
        )
    return responses


def _content(media_type: str, schema: type[BaseModel]) -> dict[str, MediaType]:
    return {media_type: MediaType(schema=PydanticSchema(schema_class=schema))}
