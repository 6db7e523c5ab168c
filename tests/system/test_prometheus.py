"""Prometheus itself: it takes the metrics, the alerts, and every query of the dashboard."""

import json
import math
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from tests.api.conftest import ROOT, START_TIMEOUT_S, Server, free_port, serving
from tests.api.fakes import make_model_dir
from tests.api.test_server import TIMEOUT_S

FOLDER = ROOT / "deploy" / "prometheus"
DASHBOARD = json.loads((ROOT / "deploy/grafana/dashboards/trellis.json").read_text("utf-8"))
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]

pytestmark = [
    pytest.mark.skipif(shutil.which(tool) is None, reason=f"{tool} is not installed")
    for tool in ("prometheus", "promtool")
]


def promtool(*arguments: str, text: str | None = None) -> None:
    result = subprocess.run(
        ["promtool", *arguments], cwd=FOLDER, input=text, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert not text or not result.stdout + result.stderr  # the linter's remarks


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that has answered: well, badly, and with words that it did not know."""
    folder = tmp_path_factory.mktemp("prometheus")
    make_model_dir(folder / "models", "en-pos-one")
    models = {"TRELLIS_MODELS_DIR": str(folder / "models"), "TRELLIS_WORKERS": "2"}
    with serving("service.wsgi:app", folder / "log", **models) as server:
        ask(server)
        yield server


def ask(server: Server) -> None:
    for path in ("/tag", "/ner", "/nowhere"):
        requests.post(server.url + path, json={"text": "Zaphod met Zaphod"}, timeout=TIMEOUT_S)


@contextmanager
def prometheus(folder: Path, target: str) -> Iterator[str]:
    """Run Prometheus with the configuration of `deploy/`, apart from target and interval."""
    text = (FOLDER / "prometheus.yml").read_text(encoding="utf-8")
    replaced = {"trellis:8080": target, "15s": "1s", "alerts.yml": str(FOLDER / "alerts.yml")}
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    configuration = folder / "prometheus.yml"
    configuration.write_text(text, encoding="utf-8")
    port = free_port()
    command = ["prometheus", f"--config.file={configuration}", f"--storage.tsdb.path={folder}/data"]
    command += [f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"]
    process = subprocess.Popen(command)
    try:
        yield f"http://127.0.0.1:{port}/api/v1"
    finally:
        process.terminate()
        process.wait(START_TIMEOUT_S)


def queried(url: str, query: str) -> list[dict[str, Any]]:
    try:
        answer = requests.get(f"{url}/query", params={"query": query}, timeout=TIMEOUT_S)
    except requests.ConnectionError:
        return []  # it has not started yet
    assert answer.status_code in (200, 503), answer.text
    result: list[dict[str, Any]] = answer.json()["data"]["result"] if answer.ok else []
    return result


def awaited(url: str, query: str) -> list[dict[str, Any]]:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not (found := queried(url, query)):
        assert time.monotonic() < deadline, query
        time.sleep(0.2)
    return found


def shows_figures(url: str, query: str) -> bool:
    """Whether there is a series, and not only of shares of nothing."""
    return any(math.isfinite(float(series["value"][1])) for series in queried(url, query))


def test_the_metrics_pass_the_linter(server: Server) -> None:
    text = requests.get(f"{server.url}/metrics", timeout=TIMEOUT_S).text
    assert "trellis_requests_total" in text
    promtool("check", "metrics", text=text)


def test_the_alerts_do_what_their_tests_say() -> None:
    promtool("check", "config", "prometheus.yml")
    promtool("test", "rules", "alerts_test.yml")


def test_every_alert_is_tested_and_has_its_place_in_the_runbook() -> None:
    rules = yaml.safe_load((FOLDER / "alerts.yml").read_text("utf-8"))["groups"][0]["rules"]
    tests = yaml.safe_load((FOLDER / "alerts_test.yml").read_text("utf-8"))["tests"]
    cases = [case for test in tests for case in test["alert_rule_test"]]
    fired = {case["alertname"] for case in cases if case["exp_alerts"]}
    names = {rule["alert"] for rule in rules}
    assert fired == names
    runbook = (ROOT / "deploy" / "RUNBOOK.md").read_text("utf-8")
    assert names == set(re.findall(r"^### (Trellis\w+)$", runbook, re.MULTILINE))
    for rule in rules:
        anchor = f"deploy/RUNBOOK.md#{rule['alert'].lower()}"
        assert rule["annotations"]["runbook"] == anchor


def test_prometheus_scrapes_it_and_the_dashboard_shows_something(
    server: Server, tmp_path: Path
) -> None:
    with prometheus(tmp_path, f"127.0.0.1:{server.port}") as url:
        assert awaited(url, 'up{job="trellis"} == 1')
        asked = 'trellis_requests_total{route="/tag", model="en-pos-one", status="200"}'
        assert awaited(url, asked)[0]["value"][1] == "1"
        for query in QUERIES:
            for variable, value in {
                "$route": ".*",
                "$model": ".*",
                "$__rate_interval": "1m",
            }.items():
                query = query.replace(variable, value)
            assert "$" not in query
            deadline = time.monotonic() + START_TIMEOUT_S
            while not shows_figures(url, query):
                assert time.monotonic() < deadline, query
                ask(server)  # rates are those of requests while Prometheus looks
        assert not queried(url, 'ALERTS{alertstate="firing"}')
