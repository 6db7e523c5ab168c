"""`deploy/compose.yaml` by Docker's own compose, with stand-ins for the images of registries."""

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from tests.api.conftest import ROOT
from tests.system.containers import BASE, ENVIRONMENT, IMAGE, START_TIMEOUT_S, podman

FILE = ROOT / "deploy" / "compose.yaml"
COMPOSE = Path(sys.executable).parent / "docker-compose"  # of the environment
PROMETHEUS = "localhost/trellis-test-prometheus"
TIMEOUT_S = 60
# Ports that are free, and images that need no registry. Grafana's only holds the place.
OVERRIDES = f"""
services:
  trellis: {{image: {IMAGE}, ports: !override ["127.0.0.1::8080"]}}
  prometheus: {{image: {PROMETHEUS}, ports: !override ["127.0.0.1::9090"]}}
  grafana:
    image: {BASE}
    ports: !override ["127.0.0.1::3000"]
    command: [sleep, infinity]
    stop_signal: SIGKILL
"""


def compose(*arguments: str, socket: str = "") -> str:
    command = [str(COMPOSE), "--project-name", "trellis-test", *arguments]
    environment = ENVIRONMENT | ({"DOCKER_HOST": f"unix://{socket}"} if socket else {})
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, f"{arguments}: {result.stdout}{result.stderr}"
    return result.stdout


@contextmanager
def docker_api(folder: Path) -> Iterator[str]:
    """Docker's API, spoken by podman; the socket of it."""
    socket = folder / "podman.sock"
    command = ["podman", "system", "service", "--time=0", f"unix://{socket}"]
    with (folder / "podman.log").open("wb") as log:
        process = subprocess.Popen(command, env=ENVIRONMENT, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + TIMEOUT_S
        while not socket.exists():
            assert process.poll() is None, (folder / "podman.log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield str(socket)
    finally:
        process.terminate()
        process.wait(TIMEOUT_S)


def make_prometheus(folder: Path) -> None:
    """Make `PROMETHEUS` of this machine's program, with the defaults of the image it stands for."""
    program = shutil.which("prometheus")
    assert program
    linked = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    archive = folder / "prometheus.tar"
    files = [program, *re.findall(r"/\S+(?= \()", linked)]
    tar = ["tar", "--create", "--dereference", "--absolute-names", "--transform=s,^/,,"]
    subprocess.run([*tar, f"--file={archive}", *files], check=True)
    arguments = ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]
    changes = [f"ENTRYPOINT {json.dumps([program])}", f"CMD {json.dumps(arguments)}"]
    options = [f"--change={change}" for change in changes]
    podman("import", "--quiet", *options, str(archive), PROMETHEUS)


def scrapes(api: str) -> bool:
    """Whether Prometheus has metrics of the service, under the name that its settings have."""
    query = {"query": 'up{job="trellis", instance="trellis:8080"} == 1'}
    try:
        answer = requests.get(f"{api}/query", query, timeout=TIMEOUT_S)
    except requests.ConnectionError:
        return False  # it has not started yet
    return answer.ok and bool(answer.json()["data"]["result"])


def test_it_is_as_the_specification_wants_it() -> None:
    found = json.loads(compose("--file", str(FILE), "config", "--format", "json"))
    assert found["services"]["trellis"]["build"]["context"] == str(ROOT)


def test_its_services_find_each_other_and_their_files(image: None, tmp_path: Path) -> None:
    if shutil.which("prometheus") is None:
        pytest.skip("prometheus is not installed")
    make_prometheus(tmp_path)
    overrides = tmp_path / "overrides.yaml"
    overrides.write_text(OVERRIDES, encoding="utf-8")
    files = ("--file", str(FILE), "--file", str(overrides))
    with docker_api(tmp_path) as socket:
        try:
            compose(*files, "up", "--detach", "--no-build", "--pull=never", socket=socket)
            address = compose(*files, "port", "prometheus", "9090", socket=socket).strip()
            api = f"http://{address}/api/v1"
            deadline = time.monotonic() + START_TIMEOUT_S
            while not scrapes(api):
                assert time.monotonic() < deadline, compose(*files, "logs", socket=socket)
                time.sleep(0.2)
            check_rules(requests.get(f"{api}/rules", timeout=TIMEOUT_S).json()["data"]["groups"])
            grafana = compose(*files, "ps", "--quiet", "grafana", socket=socket).strip()
            check_grafana(grafana)
        finally:
            compose(*files, "down", "--volumes", "--timeout=10", socket=socket)


def check_rules(groups: list[dict[str, Any]]) -> None:
    """Prometheus has all alerts, none of which fires."""
    written = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_text("utf-8"))["groups"]
    loaded = {rule["name"]: rule["state"] for group in groups for rule in group["rules"]}
    assert set(loaded) == {rule["alert"] for group in written for rule in group["rules"]}
    assert "firing" not in loaded.values()


def check_grafana(container: str) -> None:
    """Where Grafana runs, its files lie where they say, and its data source answers."""

    def within(*command: str) -> str:
        return podman("exec", container, *command).stdout

    folder = "/etc/grafana/provisioning"
    [provider] = yaml.safe_load(within("cat", f"{folder}/dashboards/trellis.yml"))["providers"]
    dashboard = json.loads(within("cat", f"{provider['options']['path']}/trellis.json"))
    assert dashboard["uid"] == "trellis"
    [source] = yaml.safe_load(within("cat", f"{folder}/datasources/prometheus.yml"))["datasources"]
    fetch = "import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read().decode())"
    query = f"{source['url']}/api/v1/query?query=trellis_info"
    assert json.loads(within("python3", "-c", fetch, query))["data"]["result"]
