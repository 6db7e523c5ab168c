"""`python -m benchmarks`: measures each part, writes the report, prints it."""

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import footprint, http_load
from benchmarks.environments import ROOT, Unavailable
from benchmarks.lineup import CRFS, INPUT, MODELS, TEXTS, entrants
from benchmarks.programs import environment
from benchmarks.report import PARTS, render
from benchmarks.throughput import Running, batches, singles

RESULTS = ROOT / "benchmarks" / "RESULTS.md"


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of a run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the public data sets")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    parser.add_argument("--rounds", type=int, default=5, help="measured rounds; medians are told")
    parser.add_argument("--sentences", type=int, default=2000, help="of each set, at most")
    parser.add_argument("--seconds", type=int, default=3, help="of each run of wrk")
    parser.add_argument("--without-peers", action="store_true", help="Trellis, and empty Flask")
    parser.add_argument("--quick", action="store_true", help="a look: little text, no peers")
    parser.add_argument("--output", type=Path, help=f"default {RESULTS.name}; none if quick")
    quick = {"rounds": 1, "sentences": 50, "seconds": 1, "without_peers": True}
    if parser.parse_args(arguments).quick:
        parser.set_defaults(**quick)
    else:
        parser.set_defaults(output=RESULTS)
    options = parser.parse_args(arguments)
    options.only = options.only.split(",")
    unknown = set(options.only) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}; parts: {', '.join(PARTS)}")
    return options


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """The results of all parts asked for, by name."""
    results: dict[str, Any] = {"load": os.getloadavg()[0]}
    data = ["--data", options.data.resolve()] if options.data else []
    _own("benchmarks.input", INPUT, "--sentences", options.sentences, *data)
    texts = json.loads(TEXTS.read_text(encoding="utf-8"))
    results["about"] = about = json.loads((INPUT / "about.json").read_text(encoding="utf-8"))
    results["versions"] = {"Python": platform.python_version()}
    # The memory of a worker first: what else runs here shares pages with it.
    if "footprint" in options.only:
        _say("footprint")
        results["footprint"] = footprint.start_and_memory(texts, options.rounds)
    if "long" in options.only:
        _say("long")
        results["long"] = footprint.long_text(texts)
    if {"batch", "single"} & set(options.only):
        results |= _in_turn(about, options)
    if "stages" in options.only:
        _say("stages")
        results["stages"] = _stages(next(iter(about["sets"])), about, options.rounds)
    if "request" in options.only:
        _say("request")
        results["request"] = json.loads(
            _own("benchmarks.request", "en-ner-crf", TEXTS, options.rounds)
        )
    if "options" in options.only:
        _say("options")
        results["options"] = {
            name: json.loads(
                _own("benchmarks.options", name, TEXTS, next(iter(about["sets"])), options.rounds)
            )
            for name in CRFS
        }
    if "monitoring" in options.only:
        _say("monitoring")
        command = ("benchmarks.monitoring", "en-ner-crf", TEXTS, "request", options.rounds)
        results["monitoring"] = json.loads(_own(*command))
    if "growth" in options.only:
        _say("growth")
        results["growth"] = json.loads(_own("benchmarks.growth", TEXTS, options.rounds))
    if "http" in options.only:
        _say("http")
        results["http"] = _http(texts, options)
    return results


def _in_turn(about: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    """What is measured of programs that run side by side, one at a time."""
    results: dict[str, Any] = {}
    with ExitStack() as stack:
        running = Running(stack, entrants(not options.without_peers))
        results["versions"] = running.versions
        if "batch" in options.only:
            _say("batch")
            tokens = {name: about["tokens"][name] for name in about["sets"]}
            results["batch"] = batches(running, tokens, options.rounds)
        if "single" in options.only:
            _say("single")
            results["single"] = singles(running, options.rounds)
    return results


def _stages(texts: str, about: dict[str, Any], rounds: int) -> dict[str, dict[str, float]]:
    """Microseconds a token of each stage, by model."""
    scale = 1e6 / about["tokens"][texts]
    seconds = {
        name: json.loads(_own("benchmarks.stages", name, TEXTS, texts, rounds)) for name in MODELS
    }
    return {name: {k: s * scale for k, s in of.items()} for name, of in seconds.items()}


def _http(texts: dict[str, list[str]], options: argparse.Namespace) -> Any:
    names = http_load.names(with_peers=not options.without_peers)
    try:
        return http_load.measure(names, texts, INPUT, options.rounds, options.seconds)
    except Unavailable as error:
        return f"skipped: {error}"


def _own(module: str, *arguments: object) -> str:
    """The line that a program of ours prints, if any, after those that log its requests."""
    words = [sys.executable, "-m", module, *map(str, arguments)]
    result = subprocess.run(words, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, check=True)
    return "".join(result.stdout.decode().splitlines()[-1:])


def _say(part: str) -> None:
    print(f"measuring: {part} ...", file=sys.stderr, flush=True)


def main(arguments: Sequence[str]) -> None:
    """Measure, write, print."""
    options = parse(arguments)
    results = measure(options)
    # A path of this machine says nothing to others.
    shown = ["DATA" if a == str(options.data) else a for a in arguments]
    command = shlex.join(["python", "-m", "benchmarks", *shown])
    report = render(results, command, datetime.now(UTC).strftime("%Y-%m-%d"))
    if options.output:
        options.output.write_text(report, encoding="utf-8")
    print(report)


if __name__ == "__main__":
    main(sys.argv[1:])
