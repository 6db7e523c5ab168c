"""The environments of the peers: one each, made once, with the versions that are pinned there."""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "benchmarks" / "peers"
CACHE = ROOT / "benchmarks" / ".cache"


class Unavailable(Exception):
    """A peer, or a tool, that cannot be had here; the message says why."""


def python_of(peer: str) -> Path:
    """The Python of a peer's virtual environment, with its packages.

    Raises
    ------
    Unavailable
        Where a package cannot be installed.
    """
    requirements = PEERS / peer / "requirements.txt"
    folder = CACHE / peer
    python = folder / "bin" / "python"
    if not _is_made_of(folder, requirements):
        _say(f"installing {peer}")
        _run([sys.executable, "-m", "venv", "--clear", folder])
        _run([python, "-m", "pip", "install", "--quiet", "--requirement", requirements])
        _mark(folder, requirements)
    return python


def node_modules_of(peer: str) -> Path:
    """The `node_modules` of a peer that runs on Node.

    Raises
    ------
    Unavailable
        Where there is no Node, or a package cannot be installed.
    """
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            raise Unavailable(f"{tool} is not installed")
    lock = PEERS / peer / "package-lock.json"
    folder = CACHE / peer
    if not _is_made_of(folder, lock):
        _say(f"installing {peer}")
        folder.mkdir(parents=True, exist_ok=True)
        for file in (lock, lock.with_name("package.json")):
            shutil.copy(file, folder)
        _run(["npm", "ci", "--no-audit", "--no-fund"], folder)
        _mark(folder, lock)
    return folder / "node_modules"


def trained(python: Path, module: str, options: Sequence[str], training: Path) -> Path:
    """A model that a peer trained for itself: ``python -m module OPTIONS TRAINING MODEL``.

    Made again where the training data or the peer's files, but `program.py`, have changed.
    """
    files = sorted((ROOT / Path(*module.split("."))).parent.glob("*.py"))
    parts = [training, *(file for file in files if file.name != "program.py")]
    digest = hashlib.sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()[:12]
    model = CACHE / "models" / "-".join([*module.split(".")[2:], *options, training.stem, digest])
    if not model.exists():
        _say(f"training {module} {' '.join(options)} on {training.name}")
        model.parent.mkdir(parents=True, exist_ok=True)
        partial = model.with_suffix(".partial")
        _run([python, "-m", module, *options, training, partial], ROOT)
        partial.replace(model)
    return model


def _is_made_of(folder: Path, pins: Path) -> bool:
    stamp = folder / "installed"
    return stamp.exists() and stamp.read_bytes() == pins.read_bytes()


def _mark(folder: Path, pins: Path) -> None:
    shutil.copy(pins, folder / "installed")


def _run(command: Sequence[str | Path], folder: Path = ROOT) -> None:
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode:
        lines = (result.stderr or result.stdout).strip().splitlines()
        raise Unavailable(lines[-1] if lines else f"{command[0]} failed")


def _say(what: str) -> None:
    print(f"{what} ...", file=sys.stderr, flush=True)
