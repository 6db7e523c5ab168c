"""Good and bad requests, mixed, for a minute: memory stays flat and every answer is right.

`TRELLIS_SOAK_S=900` makes it a quarter of an hour.
"""

import itertools
import json
import os
import random
import re
import socket
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from service.config import Settings
from service.pipeline import annotate
from service.store.registry import Registry
from service.text.tokenizer import Tokenizer
from tests.api.conftest import Server, serving
from tests.api.test_server import TIMEOUT_S, post
from tests.system.test_long_stream import resident_bytes

SOAK_S = float(os.environ.get("TRELLIS_SOAK_S") or 60)
CLIENTS = 6
ALLOWED_GROWTH = 1.05
MODELS = ("en-ner-crf", "en-pos-crf")
MAX_UNSEEN_WORDS = 500
ENVIRONMENT = {
    "TRELLIS_MODELS": ",".join(MODELS),
    "TRELLIS_MAX_UNSEEN_WORDS": str(MAX_UNSEEN_WORDS),  # else memory grows up to the bound
    "TRELLIS_MAX_BODY_BYTES": "1000000",
    "TRELLIS_CLIENT_TIMEOUT_S": "2",
    "TRELLIS_MAX_WAITING": "2",  # so that some are refused
}
TEXTS = (
    "Jane Villanueva of United Airlines said that it was late. She had flown from Chicago.",
    "📷 .@MatthewDaddario i saw obama and trump in the US- based office\r\n\r\nof IBM",
    "The bill will be back\nin the House of Representatives " * 20,
    "",
)

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the memory of a process is read from /proc"
)


def expected() -> dict[tuple[str, str], list[str]]:
    """What the library itself says: the tags of each text, by the path that it is asked on."""
    settings = Settings(models=",".join(MODELS))
    registry, tokenizer = Registry.open(settings), Tokenizer()
    found = {}
    for path, name in zip(("/ner", "/tag"), MODELS, strict=True):
        tagger = registry.get(name).tagger
        for text in TEXTS:
            [annotation] = annotate(
                tagger,
                tokenizer.tokenize_all([text]),
                spans=False,
                max_sentence_tokens=settings.max_sentence_tokens,
            )
            found[path, text] = [annotation.labels[tag_id] for tag_id in annotation.tag_ids]
    return found


class Client:
    """Asks this and that, and counts the statuses of each kind of request."""

    def __init__(self, server: Server, expected: dict[tuple[str, str], list[str]]) -> None:
        self.server = server
        self.expected = expected
        self.statuses: Counter[tuple[str, int]] = Counter()
        self.wrong: list[str] = []
        self.session = requests.Session()

    def run(self, end: float, seed: int) -> None:
        chance = random.Random(seed)
        kinds: list[Callable[[random.Random], None]] = [
            self.single,
            self.single,
            self.batch,
            self.stream,
            self.new_words,
            self.bad,
            self.half_a_request,
            self.hang_up,
        ]
        while time.monotonic() < end:
            chance.choice(kinds)(chance)

    def ask(self, kind: str, path: str, **options: Any) -> requests.Response:
        answer = self.session.post(self.server.url + path, timeout=TIMEOUT_S, **options)
        self.statuses[kind, answer.status_code] += 1
        return answer

    def check(self, path: str, text: str, document: dict[str, Any]) -> None:
        if [token["tag"] for token in document["tokens"]] != self.expected[path, text]:
            self.wrong.append(f"{path}: {text}")

    def single(self, chance: random.Random) -> None:
        path, text = chance.choice(("/ner", "/tag")), chance.choice(TEXTS)
        answer = self.ask("good", path, json={"text": text})
        if answer.ok:
            self.check(path, text, answer.json())

    def batch(self, chance: random.Random) -> None:
        documents = [{"text": text} for text in TEXTS] + [{"text": 5}]
        answer = self.ask("good", "/ner/batch", json={"documents": documents})
        if answer.ok:
            *good, bad = answer.json()["documents"]
            for text, document in zip(TEXTS, good, strict=True):
                self.check("/ner", text, document)
            assert bad["error"]["status"] == 422

    def stream(self, chance: random.Random) -> None:
        lines = [json.dumps({"text": text}).encode() + b"\n" for text in TEXTS]
        headers = {"Content-Type": "application/x-ndjson"}
        answer = self.ask("good", "/tag/batch", data=iter(lines), headers=headers)
        if answer.ok:
            for text, line in zip(TEXTS, answer.text.splitlines(), strict=True):
                self.check("/tag", text, json.loads(line))

    def new_words(self, chance: random.Random) -> None:
        # Few at a time: the tokenizer keeps 50,000 chunks, so memory grows until it has them.
        words = (f"{chance.getrandbits(64):x}" for _ in range(20))
        self.ask("good", "/ner", json={"text": " ".join(words)})

    def bad(self, chance: random.Random) -> None:
        body, status = chance.choice(
            (
                (b"{", 400),
                (b'{"text": 5}', 422),
                (b'{"text": "a", "unknown": 1}', 422),
                (b"[" * 100_000, 400),
                (b" " * 1_000_001, 413),
                (b'{"text": "\\ud800"}', 400),
            )
        )
        self.ask(f"bad {status}", "/tag", data=body, headers={"Content-Type": "application/json"})

    def half_a_request(self, chance: random.Random) -> None:
        request = post("/tag", b'{"text": "a"}')
        with socket.create_connection(("127.0.0.1", self.server.port), TIMEOUT_S) as connection:
            connection.sendall(request[: chance.randrange(1, len(request))])
            connection.shutdown(socket.SHUT_WR)
            for _ in iter(lambda: connection.recv(65536), b""):
                pass

    def hang_up(self, chance: random.Random) -> None:
        body = json.dumps({"text": chance.choice(TEXTS)}).encode()
        with socket.create_connection(("127.0.0.1", self.server.port), TIMEOUT_S) as connection:
            connection.sendall(post("/ner", body))


def sizes(server: Server, end: float) -> Iterator[tuple[float, int]]:
    """The memory of all workers, again and again."""
    pids = [int(pid) for pid in re.findall(r"worker with pid: (\d+)", server.log.read_text())]
    while (now := time.monotonic()) < end:
        yield end - now, sum(map(resident_bytes, pids))
        time.sleep(0.5)


def test_a_soak(tmp_path: Path) -> None:
    known = expected()
    with serving("service.wsgi:app", tmp_path / "log", **ENVIRONMENT) as server:
        assert requests.get(f"{server.url}/readyz", timeout=TIMEOUT_S).ok  # workers are forked
        end = time.monotonic() + SOAK_S
        clients = [Client(server, known) for _ in range(CLIENTS)]
        threads = [
            threading.Thread(target=client.run, args=(end, seed))
            for seed, client in enumerate(clients)
        ]
        for thread in threads:
            thread.start()
        measured = list(sizes(server, end))
        for thread in threads:
            thread.join()
        log = server.log.read_text()
    # It names no fault, and no text.
    assert "unexpected" not in log
    assert "Traceback" not in log
    assert "Villanueva" not in log
    statuses = sum((client.statuses for client in clients), Counter())
    print(dict(statuses))
    for (kind, status), _ in statuses.items():
        allowed = {503} | ({200} if kind == "good" else {int(kind.split()[1])})
        assert status in allowed, statuses
    assert statuses["good", 200] > 100
    assert not list(itertools.chain.from_iterable(client.wrong for client in clients))
    warm = [size for left, size in measured if SOAK_S / 2 < left < SOAK_S * 2 / 3]
    last = [size for left, size in measured if left < SOAK_S / 6]
    print(statistics.median(warm), statistics.median(last))
    assert statistics.median(last) < statistics.median(warm) * ALLOWED_GROWTH
