"""How a measured program is driven: a line on standard input, a JSON line back.

``batch SET`` runs all texts of a set at once and answers how long that took, ``each SET`` runs
them one by one and answers how long each took. A program begins with a line that names its
versions, and ends with its input. Standard library only: every peer's environment imports this.
"""

import gc
import json
import platform
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

Run = Callable[[list[str]], Iterable[list[object]]]
"""Texts to an answer each: tags as strings, or (label, start, end) of spans in code points."""


def serve(run: Run, texts_file: str, versions: Mapping[str, str]) -> None:
    """Answer commands until standard input ends.

    Parameters
    ----------
    run : what is measured; it has loaded its model.
    texts_file : JSON, sets of texts by name.
    versions : of what runs here, by package.
    """
    texts = json.loads(Path(texts_file).read_text(encoding="utf-8"))
    gc.collect()
    gc.freeze()  # as a server does with what it has loaded
    _answer({"versions": {"Python": platform.python_version(), **versions}})
    for line in sys.stdin:
        command, _, name = line.strip().partition(" ")
        _answer(_batch(run, texts[name]) if command == "batch" else _each(run, texts[name]))


def _batch(run: Run, texts: list[str]) -> dict[str, object]:
    wall, cpu = time.perf_counter(), time.process_time()  # the CPU time is that of all threads
    answers = list(run(texts))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return {"cpu_s": cpu, "wall_s": wall, "found": sum(map(len, answers))}


def _each(run: Run, texts: list[str]) -> dict[str, object]:
    times_us = []
    for text in texts:
        start = time.perf_counter_ns()
        list(run([text]))
        times_us.append((time.perf_counter_ns() - start) / 1000)
    return {"times_us": times_us}


def _answer(value: object) -> None:
    print(json.dumps(value), flush=True)
