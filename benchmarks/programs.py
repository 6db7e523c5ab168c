"""Programs that are measured: long-lived processes, driven as `peers/protocol.py` says."""

import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.environments import ROOT, Unavailable

ENVIRONMENT = {
    # One thread each, so that CPU seconds are comparable.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "BLIS_NUM_THREADS": "1",
    "PYTHONPATH": str(ROOT),
}


def environment(**more: str) -> dict[str, str]:
    """This process's environment, less the service's settings, so that defaults are measured."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TRELLIS_")}
    return kept | ENVIRONMENT | more


@dataclass(frozen=True, slots=True)
class Command:
    """What starts a program."""

    words: Sequence[str | Path]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entrant:
    """A program that takes part.

    Attributes
    ----------
    name : how the report calls it.
    task : ``ner`` or ``pos``.
    command : sets it up and says what starts it; raises `Unavailable`.
    """

    name: str
    task: str
    command: Callable[[], Command]


class Program:
    """A running program. A context: it ends with it.

    Raises
    ------
    Unavailable
        Where it cannot be set up, does not start, or ends early.
    """

    def __init__(self, entrant: Entrant) -> None:
        self.name = entrant.name
        self.task = entrant.task
        command = entrant.command()
        self._process = subprocess.Popen(
            list(command.words),
            cwd=ROOT,
            env=environment(**command.environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.versions: dict[str, str] = self._read()["versions"]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()  # the end of its input ends it

    def batch(self, texts: str) -> dict[str, Any]:
        """Run a set of texts at once: ``cpu_s``, ``wall_s``, ``found``."""
        return self._ask(f"batch {texts}")

    def each(self, texts: str) -> list[float]:
        """Run the texts of a set one by one: microseconds of each."""
        times: list[float] = self._ask(f"each {texts}")["times_us"]
        return times

    def _ask(self, line: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.communicate()
            raise Unavailable(f"it ended with exit code {self._process.returncode}")
        answer: dict[str, Any] = json.loads(line)
        return answer
