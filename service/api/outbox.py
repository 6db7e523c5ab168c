"""Answers on their way to clients, which may take them slowly; part of `worker`."""

import socket
from collections import deque
from itertools import islice

_MOST_PIECES = 16


class Outbox:
    """A socket as gunicorn writes an answer to it: it keeps what is written until it is sent.

    So an answer is sent in one piece, head and body, and a thread waits for no client.

    Parameters
    ----------
    connection : a socket that does not block.

    Attributes
    ----------
    size : bytes that are kept.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._kept: deque[memoryview] = deque()
        self.size = 0

    def sendall(self, data: bytes) -> None:
        """Keep what is to be sent."""
        self._kept.append(memoryview(data))
        self.size += len(data)

    def send(self) -> int:
        """Send what the client takes now, and say how many bytes that were.

        Raises
        ------
        OSError
            The client has gone.
        """
        before = self.size
        while self._kept:
            try:
                sent = self._socket.sendmsg(list(islice(self._kept, _MOST_PIECES)))
            except BlockingIOError:
                break
            self.size -= sent
            while self._kept and sent >= len(self._kept[0]):
                sent -= len(self._kept.popleft())
            if sent:
                self._kept[0] = self._kept[0][sent:]
        return before - self.size

    def clear(self) -> None:
        """Forget what is kept."""
        self._kept.clear()
        self.size = 0
