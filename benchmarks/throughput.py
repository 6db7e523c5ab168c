"""Programs run in turn: all texts at once, and one text at a time."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from statistics import median, quantiles
from typing import Any

from benchmarks.environments import Unavailable
from benchmarks.lineup import CRF_TUNED, NEURAL, PYTORCH, SPACY_NER
from benchmarks.programs import Entrant, Program

ONE_AT_A_TIME = {
    ("en-ner-crf", "ner"),
    (CRF_TUNED, "ner"),
    (SPACY_NER, "ner"),
    (NEURAL, "ner"),
    (PYTORCH, "ner"),
}
SOME = "some"
"""The set of texts that are run one at a time."""

_SECONDS_A_TURN = 1.0
"""So long a program goes on with a set in its turn: else the quick would be measured for less time
than it takes the machine to change its pace."""


class Running:
    """The programs that could be started, and why the others could not."""

    def __init__(self, stack: ExitStack, entrants: Sequence[Entrant]) -> None:
        self.programs: list[Program] = []
        self.skipped: dict[str, str] = {}
        self.versions: dict[str, str] = {}
        for entrant in entrants:
            try:
                program = stack.enter_context(Program(entrant))
            except Unavailable as error:
                self.skipped[key_of(entrant)] = f"skipped: {error}"
            else:
                self.programs.append(program)
                self.versions |= program.versions


def key_of(program: Entrant | Program) -> str:
    """The name of a program and its task."""
    return f"{program.name} ({program.task})"


def batches(running: Running, tokens: Mapping[str, int], rounds: int) -> dict[str, Any]:
    """Tokens a second of each set of texts, by program.

    Parameters
    ----------
    running : the programs.
    tokens : tokens of each set to measure, by our count.
    rounds : after a first pass, which is reported apart, since caches and compilers are cold in it.
    """
    measured: dict[str, Any] = {}
    for texts, count in tokens.items():
        answers: dict[str, list[dict[str, Any]]] = {key_of(p): [] for p in running.programs}
        for program in running.programs:
            answers[key_of(program)].append(program.batch(texts))
        for _ in range(rounds):
            for program in running.programs:
                answers[key_of(program)] += _turn(program, texts)
        measured[texts] = {key: _rates(count, of) for key, of in answers.items()} | running.skipped
    return measured


def _turn(program: Program, texts: str) -> list[dict[str, Any]]:
    """Pass after pass over a set of texts, at least one."""
    passes = [program.batch(texts)]
    while sum(each["wall_s"] for each in passes) < _SECONDS_A_TURN:
        passes.append(program.batch(texts))
    return passes


def _rates(tokens: int, answers: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    cold, *warm = answers
    return {
        "cpu": tokens / median(answer["cpu_s"] for answer in warm),
        "wall": tokens / median(answer["wall_s"] for answer in warm),
        "cold": tokens / cold["cpu_s"],
        "found": cold["found"],
    }


def singles(running: Running, rounds: int) -> dict[str, Any]:
    """Microseconds for one text, by program: p50 and p99 of a round, medians of the rounds."""
    programs = [p for p in running.programs if (p.name, p.task) in ONE_AT_A_TIME]
    rows: dict[str, list[tuple[float, float]]] = {key_of(p): [] for p in programs}
    for program in programs:
        program.each(SOME)
    for _ in range(rounds):
        for program in programs:
            rows[key_of(program)].append(percentiles(program.each(SOME)))
    measured: dict[str, Any] = {
        key: {"p50": median(p50 for p50, _ in of), "p99": median(p99 for _, p99 in of)}
        for key, of in rows.items()
    }
    wanted = {f"{name} ({task})" for name, task in ONE_AT_A_TIME}
    return measured | {k: why for k, why in running.skipped.items() if k in wanted}


def percentiles(values: Sequence[float]) -> tuple[float, float]:
    """The 50th and the 99th percentile."""
    cuts = quantiles(values, n=100, method="inclusive")
    return cuts[49], cuts[98]
