"""Follow a page as a reader does: its commands and programs, in order, in a folder of their own."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from documentation.blocks import Block, steps
from documentation.pages import ROOT

PORT = 8080
"""The port of the server that pages ask."""
START_TIMEOUT_S = 300
_SERVES = re.compile(r"^(?:TRELLIS_\w+=\S+ )*trellis serve\b[^|&]*$", re.MULTILINE)


class PageError(Exception):
    """A command of a page that fails; says which and why."""


def followed(page: str, folder: Path, port: int) -> Iterator[tuple[Block, Block | None, str]]:
    """Run each block of a page, which asks the server at `port` unless it starts one itself.

    The folder looks like the repository, in what pages read of it. A block that starts a server
    runs until the page ends, and the blocks behind it ask that one.

    Yields
    ------
    The block, its answer on the page if it has one, and what it printed.

    Raises
    ------
    PageError
    """
    for name in ("docs", "models"):
        (folder / name).symlink_to(ROOT / name)
    for name in (".venv", ".venv-dev"):
        (folder / name).symlink_to(sys.prefix)
    with ExitStack() as servers:
        for block, answer in steps(page):
            if _SERVES.search(block.text):
                port = servers.enter_context(serving(block.text, folder, environment()))
                continue
            yield block, answer, _run(block, folder, port)


@contextmanager
def serving(command: str, folder: Path, environment: Mapping[str, str]) -> Iterator[int]:
    """Run a command that serves, on a free port, until it is ready; end it afterwards.

    Yields
    ------
    The port.

    Raises
    ------
    PageError
        Where it ends or does not get ready.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    log_file = folder / f"log-{port}"
    with log_file.open("wb") as log:
        server = subprocess.Popen(
            command,
            shell=True,
            cwd=folder,
            env={**environment, "TRELLIS_PORT": str(port)},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not _is_ready(port):
            if server.poll() is not None or time.monotonic() > deadline:
                raise PageError(f"{command}\ndoes not get ready:\n{log_file.read_text()}")
            time.sleep(0.1)
        yield port
    finally:
        with suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(server.pid, signal.SIGTERM)
        server.wait()


def _run(block: Block, folder: Path, port: int) -> str:
    text = block.text.replace(f"localhost:{PORT}", f"localhost:{port}")
    command = ["bash", "-euc"] if block.kind == "sh" else [sys.executable, "-c"]
    result = subprocess.run(
        [*command, text],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise PageError(f"{text}\nfails:\n{result.stdout}{result.stderr}")
    return result.stdout


def inherited() -> dict[str, str]:
    """The environment of this process, without settings of Trellis and of a make above it."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("TRELLIS_", "MAKE"))}


def environment() -> dict[str, str]:
    """The same, in which commands and programs are those of this Python and this repository."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return inherited() | {"PATH": path, "PYTHONPATH": str(ROOT)}


def _is_ready(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=START_TIMEOUT_S):
            return True
    except (URLError, ConnectionError):  # also a 503
        return False
