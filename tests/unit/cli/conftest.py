"""The command line in this process and as a program of its own, and models for it."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from service.cli import main
from service.config import Settings
from tests.made_models import write_models

ROOT = Path(__file__).parents[3]
_UNSET = (*(f"TRELLIS_{name.upper()}" for name in Settings.model_fields), "NO_COLOR", "FORCE_COLOR")

Trellis = Callable[..., Result]


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _UNSET:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of small models."""
    folder = tmp_path_factory.mktemp("models")
    write_models(folder)
    return folder


@pytest.fixture
def trellis(models: Path, monkeypatch: pytest.MonkeyPatch) -> Trellis:
    """The command in this process, with the small models."""
    monkeypatch.setenv("TRELLIS_MODELS_DIR", str(models))

    def run(*arguments: object, stdin: str | bytes = "") -> Result:
        return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)

    return run


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command as a program, as an installation makes it; its folder can stand in a PATH."""
    path = tmp_path_factory.mktemp("bin") / "trellis"
    path.write_text(
        f"#!{sys.executable}\nfrom service.cli import main\nmain(prog_name='trellis')\n"
    )
    path.chmod(0o755)
    return path


def environment(**variables: object) -> dict[str, str]:
    """This environment, with the code of this checkout and a terminal that knows colours."""
    added = {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color"} | variables
    return os.environ | {name: str(value) for name, value in added.items()}


def in_terminal(command: list[str], **variables: object) -> tuple[int, str]:
    """Run a program whose standard output is a terminal: its exit code, and what it wrote."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=subprocess.PIPE,
        env=environment(**variables),
    )
    os.close(slave)
    written = b""
    while chunk := _read(master):
        written += chunk
    os.close(master)
    with process:
        assert process.stderr is not None
        assert process.stderr.read() == b""
    return process.returncode, written.decode().replace("\r\n", "\n")


def _read(master: int) -> bytes:
    try:
        return os.read(master, 65536)
    except OSError:  # on Linux the end of what is written
        return b""
