"""Bodies on the wire: where a chunked one ends, readers of what has arrived; part of `worker`."""

import io
import re
import socket
import ssl
from typing import Any

from gunicorn.http.body import Body, ChunkedReader  # type: ignore[import-untyped]

_MAX_SIZE_LINE_BYTES = 2**13
_MAX_TRAILERS_BYTES = 2**16
_LOOK_BYTES = 8192  # as gunicorn takes where it cannot know how much comes
_SIZE_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r\n")


class ChunkedEnd:
    """Finds the end of a chunked body as it arrives.

    gunicorn's own reader, which decodes it afterwards, is the one that says what is wrong.

    Attributes
    ----------
    payload : bytes of content that have arrived.
    are_broken : whether no end will ever be found.
    """

    def __init__(self) -> None:
        self.payload = 0
        self.are_broken = False
        self._next = 0  # where the head of a chunk begins
        self._before = 0  # content of the chunks that end before it

    def end(self, buffer: io.BytesIO) -> int | None:
        """Where the body ends in the buffer; None where that has not arrived."""
        arrived = buffer.getbuffer().nbytes
        while True:
            buffer.seek(self._next)
            line = buffer.readline(_MAX_SIZE_LINE_BYTES)
            if not line.endswith(b"\n") and len(line) < _MAX_SIZE_LINE_BYTES:
                return None
            match = _SIZE_LINE.fullmatch(line)
            if match is None:
                return self._broken(arrived)
            begin, size = buffer.tell(), int(match[1], 16)
            if size == 0:
                return self._end_of_trailers(buffer)
            end = begin + size + 2
            self.payload = self._before + min(size, arrived - begin)
            if end > arrived:
                return None
            buffer.seek(end - 2)
            if buffer.read(2) != b"\r\n":
                return self._broken(arrived)
            self._next, self._before = end, self._before + size

    def _end_of_trailers(self, buffer: io.BytesIO) -> int | None:
        begin = buffer.tell()
        trailers = buffer.read(_MAX_TRAILERS_BYTES)
        if trailers.startswith(b"\r\n"):
            return begin + 2
        if (at := trailers.find(b"\r\n\r\n")) >= 0:
            return begin + at + 4
        return self._broken(begin) if len(trailers) == _MAX_TRAILERS_BYTES else None

    def _broken(self, end: int) -> int:
        self.are_broken = True
        return end


class ArrivedBytes:
    """Bytes as gunicorn's readers of bodies want to read them; they never wait here."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def read(self, size: int | None = None, read_ahead: int | None = None) -> bytes:
        """Read `size` bytes; without it as a socket gives them, up to `read_ahead`."""
        begin = self._at
        self._at = min(len(self._data), begin + (size or read_ahead or _LOOK_BYTES))
        return self._data[begin : self._at]

    def unread(self, data: bytes) -> None:
        """Give back the end of what was read."""
        self._at -= len(data)


class ArrivingBody(Body):  # type: ignore[misc]  # gunicorn has no types
    """A body that has `read1`, as a buffered file has: what has arrived, without waiting for more.

    Parameters
    ----------
    request : gunicorn's request, of whose body nothing has been read.
    connection : where it comes from.
    """

    def __init__(self, request: Any, connection: socket.socket) -> None:
        reader = request.body.reader
        self._is_chunked = isinstance(reader, ChunkedReader)
        if self._is_chunked:
            reader = ChunkedReader(request, _LineUnreader(request.unreader))
        super().__init__(reader)
        self._unreader = request.unreader
        self._connection = connection

    def read1(self, size: int, /) -> bytes:
        """Read at most `size` bytes, and at least one unless the body has ended."""
        pieces = [self._arrived(size)]
        left = size - len(pieces[0])
        while pieces[-1] and left > 0 and self._is_chunked and self._has_next_chunk():
            pieces.append(self._arrived(left))
            left -= len(pieces[-1])
        return b"".join(pieces)

    def _arrived(self, size: int) -> bytes:
        """The rest of a chunk, or of what came with it; waits for the first byte of it."""
        first = self._read_reader(1)
        held = self.reader.buf if self._is_chunked else self._unreader.buf
        rest = min(size - 1, held.tell())
        return bytes(first + self._read_reader(rest)) if first else b""

    def _has_next_chunk(self) -> bool:
        """Whether the chunk after this one has begun to arrive: reading it waits for nothing."""
        return self._holds_chunk() or (self._receive() and self._holds_chunk())

    def _holds_chunk(self) -> bool:
        """Whether there are the end of a chunk, the head of the next and a byte of it."""
        *lines, beginning = self._unreader.buf.getvalue().split(b"\n", 2)
        return len(lines) == 2 and bool(beginning)

    def _receive(self) -> bool:
        """Take over what the connection holds, and say whether that is anything."""
        timeout_s = self._connection.gettimeout()
        self._connection.settimeout(0)
        try:
            data = self._connection.recv(_LOOK_BYTES)
        except (BlockingIOError, ssl.SSLWantReadError):
            return False
        finally:
            self._connection.settimeout(timeout_s)
        self._unreader.buf.seek(0, io.SEEK_END)
        self._unreader.buf.write(data)
        return bool(data)


class _LineUnreader:
    """Hands gunicorn's parser of chunks no more than it asks for, so that one sees what is left.

    Given more, it keeps that to itself, and asks for more before it hands it out.
    """

    def __init__(self, unreader: Any) -> None:
        self._unreader = unreader

    def read(self, size: None = None, read_ahead: int | None = None) -> bytes:
        """Read up to `read_ahead` bytes, or else to the end of a line."""
        data: bytes = self._unreader.read(size, read_ahead)
        end = read_ahead or data.find(b"\n") + 1 or len(data)
        if end < len(data):
            self.unread(data[end:])
        return data[:end]

    def unread(self, data: bytes) -> None:
        """Give back what was not needed."""
        self._unreader.unread(data)
