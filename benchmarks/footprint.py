"""What a server takes: seconds to be ready, memory of a worker, and long texts.

The process that runs this holds no model and no NumPy, so it shares no page with the workers.
"""

import json
import random
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.servers import TRELLIS, Server, memory_mb

LONG_CHARS = 500_000, 1_000_000, 2_000_000
PROBE_PAUSE_S = 0.02
WARMING_REQUESTS = 40  # so that each worker has had some


def start_and_memory(texts: Mapping[str, list[str]], starts: int) -> dict[str, float]:
    """Median seconds to be ready, and PSS of a worker in MB after it has worked."""
    body = _batch(texts["batch_request"])
    seconds, sizes = [], []
    for _ in range(starts):
        with Server(TRELLIS) as server:
            seconds.append(server.start_s)
            for _ in range(WARMING_REQUESTS):
                for path in ("/ner/batch", "/tag/batch"):
                    assert server.request("POST", path, body) == 200
            sizes.append(median(memory_mb(pid, "Pss") for pid in server.workers()))
    return {"start_s": median(seconds), "pss_mb": median(sizes)}


def long_text(texts: Mapping[str, list[str]]) -> list[dict[str, Any]]:
    """One sentence without punctuation, half a million characters long, then more.

    Two millions are over the default limit, which is raised: they show how memory grows.
    """
    words = sorted({w for ts in texts.values() for t in ts for w in t.split() if w.isalpha()})
    return [_long_text(words, chars) for chars in LONG_CHARS]


def _long_text(words: list[str], chars: int) -> dict[str, Any]:
    text = " ".join(random.Random(0).choices(words, k=chars))[:chars].lower()
    body = json.dumps({"text": text}).encode()
    with Server(TRELLIS, TRELLIS_MAX_TEXT_CHARS=str(chars)) as server:
        for _ in range(WARMING_REQUESTS):
            assert server.request("POST", "/ner", b'{"text": "a short text"}') == 200
        before = {pid: memory_mb(pid, "VmRSS") for pid in server.workers()}
        for pid in before:
            Path(f"/proc/{pid}/clear_refs").write_text("5")  # VmHWM counts from here
        probes: list[float] = []
        done = threading.Event()
        prober = threading.Thread(target=_probe, args=(server, probes, done))
        prober.start()
        started = time.perf_counter()
        status = server.request("POST", "/ner", body)
        wall_s = time.perf_counter() - started
        done.set()
        prober.join()
        assert status == 200
        growth = max(memory_mb(pid, "VmHWM") - rss for pid, rss in before.items())
    return {
        "chars": chars,
        "seconds": wall_s,
        "growth_mb": growth,
        "probes": len(probes),
        "slowest_probe_ms": 1000 * max(probes),
    }


def _probe(server: Server, times: list[float], done: threading.Event) -> None:
    """Ask `/livez` until `done`; keep the seconds of each answer."""
    while not done.is_set():
        started = time.perf_counter()
        assert server.request("GET", "/livez") == 200
        times.append(time.perf_counter() - started)
        time.sleep(PROBE_PAUSE_S)


def _batch(texts: list[str]) -> bytes:
    return json.dumps({"documents": [{"text": text} for text in texts]}).encode()
