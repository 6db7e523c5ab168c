"""Documents as they come, a line each, to answers, a line each: NDJSON in bounded memory.

Lines that have arrived are tagged together, so a fast client gets the speed of a batch and a slow
one its answers at once. What goes wrong with a line is said in its place; what goes wrong with the
stream, in its last line.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol

import orjson
from flask import Request, Response

from service.api.annotator import Annotator
from service.api.answers import Json
from service.api.body import parse_json
from service.api.connection import STREAMED
from service.api.monitoring.record import current
from service.api.problems import INCOMPLETE_BODY, REQUEST_TIMEOUT, Problem, problem_of
from service.api.selection import Selection
from service.api.worker import limit_stalls
from service.config import Settings
from service.errors import LimitExceeded

MEDIA_TYPE = STREAMED

_GROUP_BYTES = 2**17  # some 20,000 tokens: a batch of the pipeline
_PIECE_BYTES = 2**16  # a reader has to take this much within the time limit


class Arriving(Protocol):
    """A body that hands over what has arrived, and waits only where that is nothing."""

    def read1(self, size: int, /) -> bytes:
        """Read at most `size` bytes; none is the end."""


def stream_response(
    request: Request, annotator: Annotator, selection: Selection, head: Json, settings: Settings
) -> Response:
    """Answer the documents of a request as they come.

    Parameters
    ----------
    request : the request, with its body unread.
    annotator : tags the documents.
    selection : what is asked of all of them.
    head : what every answer begins with.
    settings : `max_body_bytes` holds for each line, `stream_timeout_s` for each wait.
    """
    limit_stalls(request.environ, settings.stream_timeout_s)
    # Read here: when the body is, there is no request any more, as Flask sees it.
    body, declared = request.environ["wsgi.input"], request.content_length
    if declared is None and not request.environ.get("wsgi.input_terminated"):
        declared = 0  # neither a length nor chunks: there is no body
    lines = _line_groups(_pieces(body, declared), settings.max_body_bytes)
    if selection.explain:  # which takes so long, and so much memory, that together gains nothing
        lines = ([line] for group in lines for line in group)
    answers = _answers(lines, annotator, selection, orjson.dumps(head))
    return Response(answers, content_type=MEDIA_TYPE)


def _pieces(body: Arriving, declared: int | None) -> Iterator[bytes]:
    """The body as it arrives; `declared` is its length, where the client says it.

    Raises
    ------
    Problem
        It ends early or its chunks are broken (400), or the client has stalled (408).
    """
    length = 0
    while length != declared and (piece := _piece(body)):
        length += len(piece)
        yield piece
    if declared is not None and length < declared:
        detail = f"the body has {length} bytes, its Content-Length says {declared}"
        raise Problem(INCOMPLETE_BODY, detail)


def _piece(body: Arriving) -> bytes:
    try:
        return body.read1(_GROUP_BYTES)
    except TimeoutError as error:
        detail = "the client sent nothing for longer than TRELLIS_STREAM_TIMEOUT_S"
        raise Problem(REQUEST_TIMEOUT, detail) from error
    except Exception as error:  # the server's own: a broken chunk, a closed connection
        raise Problem(INCOMPLETE_BODY, "the body ends early or its chunks are broken") from error


class _Line:
    """A line whose end has not come yet; what is over the limit is forgotten as it comes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._limit:
            self._parts.clear()
        else:
            self._parts.append(part)

    def end(self) -> bytes | Problem:
        """The line as it is; then begin the next."""
        line, size = b"".join(self._parts), self._size
        self._parts.clear()
        self._size = 0
        if size > self._limit:
            error = LimitExceeded("the line", self._limit, "bytes", "TRELLIS_MAX_BODY_BYTES")
            return problem_of(error)
        return line


def _line_groups(pieces: Iterable[bytes], limit: int) -> Iterator[list[bytes | Problem]]:
    """The lines that each piece completes, without blank ones."""
    line = _Line(limit)
    for piece in pieces:
        *ends, rest = piece.split(b"\n")
        group = []
        for part in ends:
            line.add(part)
            group.append(line.end())
        line.add(rest)
        yield _documents(group)
    yield _documents([line.end()])


def _documents(lines: Iterable[bytes | Problem]) -> list[bytes | Problem]:
    return [line for line in lines if isinstance(line, Problem) or line.strip()]


def _answers(
    groups: Iterable[list[bytes | Problem]], annotator: Annotator, selection: Selection, head: bytes
) -> Iterator[bytes]:
    """The answer as it is written: pieces of lines, each group to its end."""
    index = 0
    try:
        yield b""  # the head of the response goes out: a client may wait for it
        for lines in filter(None, groups):
            written: list[bytes] = []
            size = 0
            for answer in annotator.stream_answers(map(_parsed, lines), selection):
                line = _answer_line(answer, head, index)
                index += 1
                written.append(line)
                size += len(line)
                if size >= _PIECE_BYTES:
                    yield from _cut(b"".join(written))
                    written, size = [], 0
            yield b"".join(written)
    except Exception as error:
        # Whatever it was: what went out ends with a line, and so does this.
        problem = problem_of(error)
        current().problem = problem.kind.name
        yield _dumped({"error": problem.document})


def _parsed(line: bytes | Problem) -> object:
    try:
        return line if isinstance(line, Problem) else parse_json(line)
    except Problem as problem:
        return problem


def _answer_line(answer: bytes | Problem, head: bytes, index: int) -> bytes:
    if isinstance(answer, Problem):
        return _dumped({"index": index, "error": answer.document})
    return b"%b,%b\n" % (head[:-1], answer[1:])  # two objects as one


def _dumped(value: Json) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def _cut(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), _PIECE_BYTES):
        yield data[start : start + _PIECE_BYTES]
