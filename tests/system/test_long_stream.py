"""A stream of 200 MB through a worker, of which nothing stays there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.client import Document, TrellisClient
from tests.api.conftest import serving

DOCUMENTS = 2_000
TEXT = "Jane left. " * 200 + " " * 98_000  # blanks are quick to tag, and to be sent like others
WARM_AFTER = 200
ALLOWED_GROWTH_BYTES = 20 * 10**6  # a tenth of the stream

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the memory of a process is read from /proc"
)


def resident_bytes(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    [kilobytes] = re.findall(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
    return int(kilobytes) * 1024


def documents() -> Iterator[Document]:
    for _ in range(DOCUMENTS):
        yield {"text": TEXT}


def test_memory_is_bounded(tmp_path: Path) -> None:
    assert DOCUMENTS * len(TEXT) >= 200 * 10**6
    with (
        serving("tests.api.served:app", tmp_path / "log") as server,
        TrellisClient(server.url) as client,
    ):
        assert client.ready()  # the worker has been forked
        [worker] = map(int, re.findall(r"worker with pid: (\d+)", server.log.read_text()))
        sizes = [
            resident_bytes(worker)
            for answer in client.ner_stream(documents())
            if len(answer["spans"]) == 200
        ]
    assert len(sizes) == DOCUMENTS
    assert max(sizes) - sizes[WARM_AFTER] < ALLOWED_GROWTH_BYTES
