"""The one place where exceptions become `application/problem+json` (RFC 9457)."""

import logging
import traceback
from collections.abc import Mapping
from typing import NamedTuple

import orjson
from flask import Flask, Response
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from service.api.monitoring.record import current
from service.errors import InputError, LimitExceeded, ModelNotFound, ModelNotLoaded

MEDIA_TYPE = "application/problem+json"
_log = logging.getLogger(__name__)


class Kind(NamedTuple):
    """A kind of problem; clients may depend on its name."""

    name: str
    status: int
    title: str

    @property
    def uri(self) -> str:
        """The `type` of the problem."""
        return f"urn:trellis:problem:{self.name}"


MALFORMED_JSON = Kind("malformed-json", 400, "Malformed JSON")
MALFORMED_COLUMNS = Kind("malformed-columns", 400, "Malformed columns")
MALFORMED_REQUEST = Kind("malformed-request", 400, "Malformed request")
INCOMPLETE_BODY = Kind("incomplete-body", 400, "Incomplete body")
UNAUTHORIZED = Kind("unauthorized", 401, "Unauthorized")
NOT_FOUND = Kind("not-found", 404, "Not found")
MODEL_NOT_FOUND = Kind("model-not-found", 404, "Model not found")
METHOD_NOT_ALLOWED = Kind("method-not-allowed", 405, "Method not allowed")
NOT_ACCEPTABLE = Kind("not-acceptable", 406, "Not acceptable")
REQUEST_TIMEOUT = Kind("request-timeout", 408, "Request timeout")
MODEL_NOT_LOADED = Kind("model-not-loaded", 409, "Model not loaded")
LIMIT_EXCEEDED = Kind("limit-exceeded", 413, "Limit exceeded")
UNSUPPORTED_MEDIA_TYPE = Kind("unsupported-media-type", 415, "Unsupported media type")
UNSUPPORTED_ENCODING = Kind("unsupported-encoding", 415, "Unsupported content encoding")
UNSUPPORTED_TRANSFER_CODING = Kind("unsupported-transfer-coding", 501, "Unsupported coding")
INVALID_REQUEST = Kind("invalid-request", 422, "Invalid request")
INTERNAL = Kind("internal-error", 500, "Internal error")
NOT_READY = Kind("not-ready", 503, "Not ready")
DEADLINE_EXCEEDED = Kind("deadline-exceeded", 504, "Deadline exceeded")
OVERLOADED = Kind("overloaded", 503, "Overloaded")


class Problem(Exception):
    """An answer that is an error.

    Parameters
    ----------
    kind : what kind of problem it is.
    detail : what is wrong here, without the caller's text.
    headers : headers that the answer needs.
    members : further members, such as ``pointer``, ``limit`` or ``known``.
    """

    def __init__(
        self,
        kind: Kind,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        **members: object,
    ) -> None:
        super().__init__(detail)
        self.kind = kind
        self.headers = dict(headers or {})
        self.document = {
            "type": kind.uri,
            "title": kind.title,
            "status": kind.status,
            "detail": detail,
            **members,
        }

    def response(self) -> Response:
        """The answer of a request that failed with this problem."""
        body = orjson.dumps(self.document)
        return Response(body, self.kind.status, self.headers, content_type=MEDIA_TYPE)


def problem_of(error: Exception) -> Problem:
    """Say what went wrong to the caller; what is not the caller's doing is logged, and hidden."""
    match error:
        case Problem():
            return error
        case LimitExceeded():
            limit = error.limit
            return Problem(LIMIT_EXCEEDED, error.detail, pointer=error.pointer, limit=limit)
        case InputError():
            return Problem(INVALID_REQUEST, error.detail, pointer=error.pointer)
        case ModelNotFound():
            return Problem(MODEL_NOT_FOUND, str(error), known=error.known)
        case ModelNotLoaded():
            return Problem(MODEL_NOT_LOADED, str(error), setting="TRELLIS_MODELS")
        case MethodNotAllowed():
            allowed = sorted(error.valid_methods or ())
            detail = f"this path answers to {', '.join(allowed)}"
            headers = {"Allow": ", ".join(allowed)}
            return Problem(METHOD_NOT_ALLOWED, detail, headers=headers, allowed=allowed)
        case HTTPException(code=400):
            return Problem(MALFORMED_REQUEST, "this is no request that HTTP/1.1 allows")
        case HTTPException(code=404):
            return Problem(NOT_FOUND, "there is nothing at this path")
        case HTTPException(code=int(code)):
            # the class's own description: the instance's could quote the request
            name = error.name.lower().replace(" ", "-")
            return Problem(Kind(name, code, error.name), type(error).description or error.name)
        case _:
            log_unexpected(error)
            return Problem(INTERNAL, "the service failed; the reason stands in its log")


def log_unexpected(error: Exception) -> None:
    """Log types and places only: a message, or a line of locals, may hold a user's text."""
    while True:
        frames = traceback.walk_tb(error.__traceback__)
        places = [f"{frame.f_code.co_filename}:{line}" for frame, line in frames]
        _log.error("unexpected %s at %s", type(error).__name__, " > ".join(places))
        if not isinstance(error.__cause__, Exception):
            return
        error = error.__cause__


def register_problems(app: Flask) -> None:
    """Answer every exception of the app as a problem."""
    app.register_error_handler(Exception, _answer)


def _answer(error: Exception) -> Response:
    problem = problem_of(error)
    current().problem = problem.kind.name
    return problem.response()
