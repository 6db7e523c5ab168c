"""Counts of many processes: what a worker has counted stays counted, in a few files."""

import os
import signal
import struct
import threading
import time
from functools import partial
from pathlib import Path
from typing import IO

import pytest
import requests
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.mmap_dict import MmapedDict, mmap_key
from prometheus_client.multiprocess import MultiProcessCollector

from service.api.monitoring.value_file import ValueFile
from service.api.monitoring.worker_files import fold, read_consistently
from tests.api.conftest import Server, serving
from tests.api.scrapes import Scrape
from tests.api.test_server import TIMEOUT_S

DEATHS = 200


def write(file: Path, values: dict[str, float]) -> None:
    """Write as a worker does."""
    written = MmapedDict(str(file))
    for key, value in values.items():
        written.write_value(key, value, 0.0)
    written.close()


def count_as(folder: Path, pid: int) -> None:
    """Count `pid` requests of 0.2 s each, as that process, which answers one more."""
    labels = (["route"], ["/tag"])
    write(folder / f"counter_{pid}.db", {mmap_key("c", "c_total", *labels, "Help."): float(pid)})
    buckets = {
        mmap_key("h", "h_bucket", ["le"], ["0.1"], "Help."): 0.0,
        mmap_key("h", "h_bucket", ["le"], ["+Inf"], "Help."): float(pid),
        mmap_key("h", "h_sum", [], [], "Help."): 0.2 * pid,
    }
    write(folder / f"histogram_{pid}.db", buckets)
    write(folder / f"gauge_livesum_{pid}.db", {mmap_key("g", "g", [], [], "Help."): 1.0})


def scraped(folder: Path) -> Scrape:
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=str(folder))
    return Scrape(generate_latest(registry).decode())


def test_many_deaths_leave_two_files_and_exact_totals(tmp_path: Path) -> None:
    for pid in range(1, DEATHS + 1):
        count_as(tmp_path, pid)
        fold(tmp_path, pid)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "counter_archive.db",
        "histogram_archive.db",
    ]
    count_as(tmp_path, DEATHS + 1)  # one that lives
    total = sum(range(1, DEATHS + 2))
    found = scraped(tmp_path)
    assert found("c_total", route="/tag") == total
    assert found("h_bucket", le="0.1") == 0
    assert found("h_bucket", le="+Inf") == found("h_count") == total
    assert found("h_sum") == pytest.approx(0.2 * total)
    assert found("g") == 1


def test_who_reads_meanwhile_misses_nothing_and_counts_nothing_twice(tmp_path: Path) -> None:
    pids = range(1, 101)
    for pid in pids:
        count_as(tmp_path, pid)
    is_over = threading.Event()
    totals: list[float] = []

    def read() -> None:
        while not is_over.is_set():
            found = read_consistently(lambda: scraped(tmp_path))
            totals.append(found("c_total", route="/tag"))

    reader = threading.Thread(target=read)
    reader.start()
    for pid in pids:
        fold(tmp_path, pid)
        time.sleep(0.001)
    while not totals:
        time.sleep(0.01)
    is_over.set()
    reader.join()
    assert set(totals) == {sum(pids)}


def test_who_finds_half_a_file_while_it_is_folded_looks_again(tmp_path: Path) -> None:
    count_as(tmp_path, 1)
    looks = []

    def read() -> Scrape:
        looks.append(1)
        if len(looks) == 1:
            fold(tmp_path, 1)
            raise struct.error("the archive is empty")
        return scraped(tmp_path)

    assert read_consistently(read)("c_total", route="/tag") == 1
    with pytest.raises(struct.error):  # which nothing but a wrong file explains
        read_consistently(partial(struct.unpack, "i", b""))


def test_a_file_is_never_seen_before_it_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def read_meanwhile(path: Path, mode: str) -> IO[bytes]:
        file = open(path, mode)  # noqa: SIM115 - the caller closes it
        seen.append(scraped(tmp_path))
        return file

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", read_meanwhile)
        file = ValueFile(tmp_path / "counter_1.db")
    place = file[mmap_key("c", "c_total", [], [], "Help.")]
    file.numbers[place] += 3
    assert len(seen) == 1
    assert scraped(tmp_path)("c_total") == 3


def test_a_file_that_is_cut_loses_only_its_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    count_as(tmp_path, 1)
    count_as(tmp_path, 2)
    os.truncate(tmp_path / "counter_2.db", 40)
    fold(tmp_path, 1)
    fold(tmp_path, 2)
    assert scraped(tmp_path)("c_total", route="/tag") == 1
    assert "counter_2.db is cut" in caplog.text
    assert len(list(tmp_path.iterdir())) == 2


def scrape(server: Server) -> Scrape:
    answer = requests.get(f"{server.url}/metrics", timeout=TIMEOUT_S)
    assert answer.status_code == 200
    return Scrape(answer.text)


def ask(server: Server, times: int) -> None:
    for _ in range(times):  # a new connection each, so that every worker gets some
        answer = requests.post(f"{server.url}/tag", json={"text": "the bill"}, timeout=TIMEOUT_S)
        assert answer.status_code == 200


def living_workers(folder: Path, master: int) -> set[int]:
    pids = {int(file.stem.rpartition("_")[2]) for file in folder.glob("gauge_livesum_*.db")}
    return pids - {master}


def answered(server: Server) -> float:
    labels = {"route": "/tag", "model": "en-pos-crf", "status": "200"}
    return scrape(server)("trellis_requests_total", **labels)


def test_totals_are_exact_whatever_ends_the_workers(tmp_path: Path) -> None:
    folder = tmp_path / "metrics"
    folder.mkdir()
    count_as(folder, 7)  # of a service that ran before
    environment = {"TRELLIS_WORKERS": "2", "TRELLIS_METRICS_DIR": str(folder)}
    with serving("tests.api.served:app", tmp_path / "log", **environment) as server:
        master = server.process.pid
        assert answered(server) == 0
        asked = 0
        for death in range(1, 4):
            ask(server, 10)
            asked += 10
            assert answered(server) == asked
            while len(workers := living_workers(folder, master)) < 2:
                time.sleep(0.05)
            os.kill(min(workers), signal.SIGKILL)
            while scrape(server)("trellis_worker_exits_total") < death:
                time.sleep(0.05)
            assert answered(server) == asked
        ask(server, 10)
        server.process.send_signal(signal.SIGHUP)  # both are replaced, one after the other
        while scrape(server)("trellis_worker_exits_total") < 5:
            time.sleep(0.05)
        found = scrape(server)
        assert found.total("trellis_requests_total", route="/tag") == asked + 10
        histogram = {"route": "/tag", "model": "en-pos-crf"}
        assert found("trellis_request_duration_seconds_count", **histogram) == asked + 10
        assert found("trellis_requests_in_flight") == 0
        while len(living_workers(folder, master)) < 2:
            time.sleep(0.05)
        # three of the master and of each worker, and two archives
        assert len(list(folder.iterdir())) == 11


def read(file: Path) -> dict[str, float]:
    """What prometheus-client reads in a file."""
    return {key: value for key, value, _, _ in MmapedDict.read_all_values_from_file(str(file))}


@pytest.mark.parametrize("chars", range(1, 10))
def test_a_file_of_any_series_is_read_by_prometheus_client(tmp_path: Path, chars: int) -> None:
    file = ValueFile(tmp_path / "counter_1.db")
    # more than the file has room for at first
    keys = [f"é{i:04}{'x' * chars}" for i in range(3000)]
    for value, key in enumerate(keys):
        place = file[key]
        file.numbers[place] += value
    assert read(tmp_path / "counter_1.db") == {key: i for i, key in enumerate(keys)}


def test_a_process_goes_on_in_a_file_of_its_own(tmp_path: Path) -> None:
    file = ValueFile(tmp_path / "counter_1.db")
    place = file["a"]
    file.numbers[place] += 2
    file.go_on(tmp_path / "counter_2.db")
    assert read(tmp_path / "counter_2.db") == {"a": 0}
    assert file["a"] == place
    file.numbers[place] += 1
    file.numbers[file["b"]] += 4
    assert read(tmp_path / "counter_1.db") == {"a": 2}
    assert read(tmp_path / "counter_2.db") == {"a": 1, "b": 4}
