"""The body of a request: its media type, its bytes, and the JSON in them.

We read it ourselves: Werkzeug cuts a chunked body silently at its limit, and gunicorn hands a
body shorter than its Content-Length over as if it were whole.
"""

from collections.abc import Sequence
from typing import IO

import orjson
from flask import Request

from service.api.problems import (
    INCOMPLETE_BODY,
    MALFORMED_JSON,
    UNSUPPORTED_ENCODING,
    UNSUPPORTED_MEDIA_TYPE,
    UNSUPPORTED_TRANSFER_CODING,
    Problem,
)
from service.errors import LimitExceeded

MEDIA_TYPE = "application/json"


def read_json(request: Request, limit: int, media_types: Sequence[str] = (MEDIA_TYPE,)) -> object:
    """Parse the body of a request, of at most `limit` bytes.

    `media_types` are those that its path takes: an error names them all, JSON or not.

    Raises
    ------
    Problem
        Media type or encoding is another (415), the body ends early or is no JSON (400).
    LimitExceeded
        The body is larger than `limit`.
    """
    check_headers(request, media_types)
    return parse_json(read_body(request, limit))


def parse_json(content: bytes) -> object:
    """The value that JSON in UTF-8 holds.

    Raises
    ------
    Problem
        It is no JSON (400); says where, and never quotes it.
    """
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise Problem(MALFORMED_JSON, _fault(content, error)) from None


def _fault(body: bytes, error: orjson.JSONDecodeError) -> str:
    """What is wrong with a body that is no JSON, without quoting it."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as wrong:
        return f"not valid UTF-8, at byte {wrong.start}"
    return f"{error.msg}, at line {error.lineno}, column {error.colno}"


def check_headers(request: Request, media_types: Sequence[str]) -> None:
    """Say what of the headers no body can have that we read.

    Parameters
    ----------
    request : the request; its body stays unread.
    media_types : those that may be sent.

    Raises
    ------
    Problem
        Media type or content encoding is another (415), or the transfer coding is (501).
    """
    charset = request.mimetype_params.get("charset", "utf-8").lower()
    if request.mimetype not in media_types or charset not in ("utf-8", "utf8"):
        detail = f"the body must be {' or '.join(media_types)}, in UTF-8"
        raise Problem(UNSUPPORTED_MEDIA_TYPE, detail, allowed=list(media_types))
    if request.headers.get("Transfer-Encoding", "chunked").strip().lower() != "chunked":
        raise Problem(UNSUPPORTED_TRANSFER_CODING, "a body is sent as it is, or chunked")
    if request.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
        detail = "the body must be sent without a content encoding"
        headers = {"Accept-Encoding": "identity"}
        raise Problem(UNSUPPORTED_ENCODING, detail, headers=headers, allowed=["identity"])


def read_body(request: Request, limit: int) -> bytes:
    """Read the body of a request, of at most `limit` bytes.

    Raises
    ------
    Problem
        It ends early, or its chunks are broken (400).
    LimitExceeded
        It is larger than `limit`.
    """
    declared = request.content_length  # None where the body is chunked
    stream: IO[bytes] = request.environ["wsgi.input"]
    try:
        if declared is not None and declared > limit:
            body = None
        elif declared is None and not request.environ.get("wsgi.input_terminated"):
            body = b""  # neither a length nor chunks: there is no body
        else:
            body = _read(stream, limit + 1 if declared is None else declared)
        if body is None or len(body) > limit:
            raise LimitExceeded("the body", limit, "bytes", "TRELLIS_MAX_BODY_BYTES")
    except LimitExceeded:
        raise
    except Exception as error:  # the server's own: a broken chunk, a closed connection
        raise Problem(INCOMPLETE_BODY, "the body ends early or its chunks are broken") from error
    if declared is not None and len(body) < declared:
        detail = f"the body has {len(body)} bytes, its Content-Length says {declared}"
        raise Problem(INCOMPLETE_BODY, detail)
    return body


def _read(stream: IO[bytes], size: int) -> bytes:
    """Read up to `size` bytes; a read may return less than it was asked for."""
    pieces = []
    while size > 0 and (piece := stream.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
