"""What a client does not take at once is kept, and none of it is lost."""

import socket

import pytest

from service.api.outbox import Outbox


@pytest.fixture
def ends() -> tuple[socket.socket, socket.socket]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.settimeout(60)
    return ours, theirs


def test_a_small_answer_goes_out_at_once_and_in_one_piece(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = ends
    with ours, theirs:
        outbox = Outbox(ours)
        for piece in (b"head", b"", b"body"):
            outbox.sendall(piece)
        theirs.setblocking(False)
        with pytest.raises(BlockingIOError):
            theirs.recv(100)
        assert outbox.size == 8
        assert outbox.send() == 8
        assert outbox.size == 0
        assert theirs.recv(100) == b"headbody"


def test_a_large_one_as_the_client_takes_it(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = ends
    pieces = [bytes([n % 256]) * (n * 997 % 50_000) for n in range(200)]
    answer = b"".join(pieces)
    with ours, theirs:
        outbox = Outbox(ours)
        for piece in pieces:
            outbox.sendall(piece)
        taken = b""
        while outbox.size:
            before = outbox.size
            assert outbox.send() == before - outbox.size
            taken += theirs.recv(100_000)
        while len(taken) < len(answer):
            taken += theirs.recv(100_000)
        assert taken == answer


def test_a_client_that_has_gone(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = ends
    outbox = Outbox(ours)
    outbox.sendall(b"a")
    with ours:
        theirs.close()
        with pytest.raises(OSError, match="pipe"):
            outbox.send()
        outbox.clear()
        assert outbox.size == 0
        assert outbox.send() == 0
