"""Requests a second and their latency, by wrk; the servers take turns on the same cores."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.environments import ROOT, Unavailable
from benchmarks.servers import SERVERS, SPACY, Server

CONNECTIONS = (1, 8, 32)
ONE, MANY = "/ner", "/ner/batch"
WARM_UP_S = 1
_WRK = ("wrk", "-t1", "--timeout", "30s")  # a slow answer is no error


def names(with_peers: bool) -> list[str]:
    """The servers to measure; the empty application needs nothing but what Trellis needs."""
    return [name for name in SERVERS if with_peers or name != SPACY]


def measure(
    names: Sequence[str],
    texts: Mapping[str, list[str]],
    folder: Path,
    rounds: int,
    seconds: int,
) -> Any:
    """Measure every server that can be started.

    Parameters
    ----------
    names : of servers.
    texts : ``request``, one text, and ``batch_request``, many.
    folder : where the bodies of the requests are written.
    rounds : of each server, path and number of connections; medians are returned.
    seconds : that wrk runs each.

    Returns
    -------
    By path, connections and server: ``per_s``, ``p50_us``, ``p99_us``, ``errors``.

    Raises
    ------
    Unavailable
        Where wrk is not installed.
    """
    if shutil.which("wrk") is None:
        raise Unavailable("wrk is not installed")
    [one], many = texts["request"], texts["batch_request"]
    bodies = {ONE: folder / "one.json", MANY: folder / "many.json"}
    bodies[ONE].write_text(json.dumps({"text": one}))
    bodies[MANY].write_text(json.dumps({"documents": [{"text": text} for text in many]}))
    with ExitStack() as stack:
        servers: dict[str, Server] = {}
        skipped: dict[str, str] = {}
        for name in names:
            try:
                servers[name] = stack.enter_context(Server(name))
            except Unavailable as error:
                skipped[name] = f"skipped: {error}"
        return {
            path: {
                connections: _in_turn(servers, path, body, connections, rounds, seconds) | skipped
                for connections in CONNECTIONS
            }
            for path, body in bodies.items()
        }


def _in_turn(
    servers: Mapping[str, Server],
    path: str,
    body: Path,
    connections: int,
    rounds: int,
    seconds: int,
) -> dict[str, Any]:
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in servers}
    for server in servers.values():
        _wrk(server, path, body, connections, WARM_UP_S)
    for _ in range(rounds):
        for name, server in servers.items():
            runs[name].append(_wrk(server, path, body, connections, seconds))
    return {name: _medians(of) for name, of in runs.items()}


def _wrk(server: Server, path: str, body: Path, connections: int, seconds: int) -> dict[str, float]:
    url = f"http://127.0.0.1:{server.port}{path}"
    result = subprocess.run(
        [*_WRK, f"-c{connections}", f"-d{seconds}s", "-s", "benchmarks/post.lua", url],
        cwd=ROOT,
        env={**os.environ, "BODY": str(body)},
        capture_output=True,
        text=True,
        check=True,
    )
    run: dict[str, float] = json.loads(result.stdout.splitlines()[-1])
    return run | {"per_s": run["requests"] / run["duration_us"] * 1e6}


def _medians(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    figures = {name: median(run[name] for run in runs) for name in ("per_s", "p50_us", "p99_us")}
    return figures | {"errors": sum(run["errors"] for run in runs)}
