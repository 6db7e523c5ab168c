"""`kill -9` of a worker, as the kernel does where memory is short: only its requests are lost."""

import contextlib
import json
import os
import re
import signal
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests

from tests.api.conftest import Server, serving
from tests.api.fakes import SLOW_WORD
from tests.api.test_server import TIMEOUT_S, post

MOST_REQUESTS = 20  # as many as a worker has places for

pytestmark = pytest.mark.skipif(
    not Path("/proc/net/tcp").exists(), reason="the sockets of a process are read from /proc"
)


def workers(server: Server) -> list[int]:
    """The processes of workers that the log names."""
    return [int(pid) for pid in re.findall(r"worker with pid: (\d+)", server.log.read_text())]


def owner(server: Server, connection: socket.socket) -> int | None:
    """The worker that has accepted a connection."""
    ports = f":{server.port:04X} 0100007F:{connection.getsockname()[1]:04X} "
    lines = Path("/proc/net/tcp").read_text().splitlines()
    inodes = [line.split()[9] for line in lines if ports in line]
    for worker in workers(server):
        folder = Path(f"/proc/{worker}/fd")
        held = [os.readlink(file) for file in folder.iterdir() if file.is_symlink()]
        if any(f"socket:[{inode}]" in held for inode in inodes):
            return worker
    return None


def slow(server: Server, stack: ExitStack) -> tuple[socket.socket, int]:
    """A slow request, and the worker that works on it."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_S)
    stack.enter_context(connection)
    connection.sendall(post("/tag", json.dumps({"text": SLOW_WORD}).encode()))
    while (worker := owner(server, connection)) is None:
        time.sleep(0.05)
    return connection, worker


def test_only_its_own_requests_are_lost(tmp_path: Path) -> None:
    with (
        serving("tests.api.served:app", tmp_path / "log", TRELLIS_WORKERS="2") as server,
        ExitStack() as stack,
    ):
        while len(workers(server)) < 2:
            time.sleep(0.05)
        asked: list[tuple[socket.socket, int]] = []
        while len({worker for _, worker in asked}) < 2:
            assert len(asked) < MOST_REQUESTS
            asked.append(slow(server, stack))
        killed = asked[0][1]
        os.kill(killed, signal.SIGKILL)
        for _ in range(20):
            answer = requests.post(f"{server.url}/tag", json={"text": "a"}, timeout=TIMEOUT_S)
            assert answer.status_code == 200
        while len(workers(server)) < 3:  # and another takes its place
            time.sleep(0.05)
        server.release.touch()
        for connection, worker in asked:
            if worker == killed:
                with contextlib.suppress(ConnectionResetError):
                    assert connection.recv(100) == b""
            else:
                assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
