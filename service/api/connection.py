"""A connection, and what it has brought of the request that is next; part of `worker`."""

import contextlib
import io
import socket
from collections.abc import Callable
from functools import cached_property
from typing import Any

from gunicorn.http import errors  # type: ignore[import-untyped]
from gunicorn.http.body import Body, ChunkedReader, LengthReader  # type: ignore[import-untyped]
from gunicorn.http.message import Request  # type: ignore[import-untyped]
from gunicorn.http.parser import RequestParser  # type: ignore[import-untyped]

from service.api.arrival import ArrivedBytes, ArrivingBody, ChunkedEnd
from service.api.outbox import Outbox

STREAMED = "application/x-ndjson"
"""The media type of bodies that the app reads as they arrive."""

_RECEIVED_BYTES = 2**16
_SMALL_BYTES = 2**16
_MAX_HEAD_BYTES = 2**16
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Connection:
    """A connection, what it has brought of the request that is next, and what it has not taken.

    Parameters
    ----------
    cfg : gunicorn's settings.
    wire : the socket.
    client, server : the addresses of the two ends.

    Attributes
    ----------
    sock : where gunicorn writes the answer; the wire itself where that is a stream.
    ready, expire : what the worker does when something comes or is taken, and at `timeout`.
    watched : for which of these the poller looks, as of `selectors`.
    is_busy : whether a request is answered or waits for that; then the worker only takes over
        what comes.
    is_kept : whether another request may follow the one that is answered.
    has_ended : whether the client sends nothing more.
    timeout : when the worker's patience ends, as of `time.monotonic`.
    deadline : when the time of the request ends that is answered.
    held_bytes : memory that counts against the worker's; the worker sets it.
    taken_bytes : of an answer, since the client last had its time renewed.
    """

    def __init__(self, cfg: Any, wire: socket.socket, client: Any, server: Any) -> None:
        wire.setblocking(False)
        self.wire = wire
        self.client = client
        self.server = server
        self.outbox = Outbox(wire)
        self.sock: Outbox | socket.socket = self.outbox
        self.parser = _Parser(cfg, wire, client)
        self.is_busy = False
        self.is_kept = True
        self.has_ended = False
        self.ready: Callable[[Connection], None] = Connection.close
        self.expire: Callable[[Connection], None] = Connection.close
        self.watched = 0
        self.timeout = 0.0
        self.deadline = 0.0
        self.held_bytes = 0
        self.taken_bytes = 0
        self._chunks: ChunkedEnd | None = None

    @property
    def size(self) -> int:
        """Bytes that have arrived and belong to no request yet that was handed over."""
        return int(self.parser.unreader.buf.getbuffer().nbytes)

    @property
    def large_bytes(self) -> int:
        """`size`, or nothing where it is small: such a request is never short of memory."""
        return self.size if self.size > _SMALL_BYTES else 0

    @property
    def has_begun(self) -> bool:
        """Whether anything of the next request has come."""
        return self.parser.parsed is not None or self.size > 0

    @property
    def is_resting(self) -> bool:
        """Whether there is no request."""
        return not self.is_busy and not self.has_begun

    def receive(self) -> bytes | None:
        """What has arrived: nothing at the end of the connection, None before anything comes."""
        try:
            return self.wire.recv(_RECEIVED_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def add(self, data: bytes) -> None:
        """Take over what has been received."""
        self.parser.unreader.buf.seek(0, io.SEEK_END)
        self.parser.unreader.buf.write(data)

    def is_ready(self, max_body_bytes: int) -> bool:
        """Whether the next request can be handed over, since nothing of it has to be waited for.

        So it is where all of it has arrived, where its body is over the limit, which the app says
        without it, and where its body is a stream. The last two end the connection.

        Raises
        ------
        ParseException
            It is no request of HTTP/1.1.
        """
        if self.parser.parsed is None:
            if not self._holds_head():
                return False
            self._chunks = ChunkedEnd() if self.parser.parse().is_chunked else None
        request = self.parser.parsed
        if request.is_streamed:
            request.force_close()
            return True
        end = self._end_of_body(max_body_bytes)
        if end is None:
            if request._expected_100_continue:
                request._expected_100_continue = False
                with contextlib.suppress(OSError):  # then the body will not come either
                    self.wire.send(_CONTINUE)
            return False
        request._expected_100_continue = False  # there is nothing to send any more
        self._cut_body(end)
        return True

    def end(self) -> bool:
        """Take the end of the connection for that of the request; say whether there is one."""
        if self.parser.parsed is None:
            return False
        self.parser.parsed.force_close()
        self._cut_body(self.size)
        return True

    def take(self, timeout_s: float) -> Any:
        """Take the request that is ready out; a stream is read from and written to the wire.

        Parameters
        ----------
        timeout_s : how long a stream waits for its client.
        """
        request = next(self.parser)
        if request.is_streamed:
            self.wire.settimeout(timeout_s)
            self.sock = self.wire
            request.body = ArrivingBody(request, self.wire)
        return request

    def close(self) -> None:
        """Close it; nothing is done with it any more."""
        self.ready = self.expire = Connection.close
        self.is_busy = True
        with contextlib.suppress(OSError):
            self.wire.close()

    def _holds_head(self) -> bool:
        """Whether the parser would find an end of the head, or a fault, in what there is."""
        head: bytes = self.parser.unreader.buf.getvalue()
        if b"\r\n\r\n" in head or head.count(b"\n") != head.count(b"\r\n"):
            return True
        if len(head) > _MAX_HEAD_BYTES and b"\r\n" in head:
            raise errors.LimitRequestHeaders("max head")
        return len(head) > _MAX_HEAD_BYTES  # a request line without an end

    def _end_of_body(self, max_body_bytes: int) -> int | None:
        """Where the body ends in what has arrived, or as much as tells that it is too large."""
        request = self.parser.parsed
        if self._chunks is None:
            length = int(request.body.reader.length)
            if length <= max_body_bytes:
                return length if length <= self.size else None
        else:
            end = self._chunks.end(self.parser.unreader.buf)
            if end is not None and not self._chunks.are_broken:
                return end
            if end is None and self._chunks.payload <= max_body_bytes:
                return None
        request.force_close()
        return self.size

    def _cut_body(self, end: int) -> None:
        """Give the request its body, and leave what belongs to the next."""
        arrived: bytes = self.parser.unreader.take_buffered()
        self.add(arrived[end:])
        request, body = self.parser.parsed, ArrivedBytes(arrived[:end])
        if self._chunks is None:
            request.body = Body(LengthReader(body, request.body.reader.length))
        else:
            request.body = Body(ChunkedReader(request, body))


class _Request(Request):  # type: ignore[misc]
    """A request whose head is there."""

    @property
    def is_chunked(self) -> bool:
        """Whether its body comes in chunks."""
        return isinstance(self.body.reader, ChunkedReader)

    @cached_property
    def is_streamed(self) -> bool:
        """Whether the app reads its body as it comes."""
        media_types = [value for name, value in self.headers if name == "CONTENT-TYPE"]
        return (
            media_types[:1] != [] and media_types[0].partition(";")[0].strip().lower() == STREAMED
        )


class _Parser(RequestParser):  # type: ignore[misc]
    """Parses a head as soon as it is there, and hands the request out later.

    What a request leaves unread is gone with its body, so there is nothing to discard.
    """

    parsed: Any = None

    def parse(self) -> Any:
        """Parse the head that the unreader holds."""
        self.req_count += 1
        self.parsed = _Request(self.cfg, self.unreader, self.source_addr, self.req_count)
        return self.parsed

    def __next__(self) -> Any:
        request, self.parsed = self.parsed, None
        return request
