"""`deploy/nginx.conf` before two instances: TLS, streams, and restarts that nobody notices."""

import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import requests

from tests.api.conftest import START_TIMEOUT_S, Server, free_port, serving

ROOT = Path(__file__).resolve().parents[2]
CLIENTS = 4
TIMEOUT_S = 60

pytestmark = [
    pytest.mark.skipif(shutil.which(tool) is None, reason=f"{tool} is not installed")
    for tool in ("nginx", "openssl")
]


@contextmanager
def instance(folder: Path, port: int) -> Iterator[Server]:
    """An instance that drains for two seconds, as its image does for five."""
    log = folder / f"{port}-{time.monotonic()}"
    environment = {"TRELLIS_PORT": str(port), "TRELLIS_DRAIN_S": "2"}
    with serving("tests.api.served:app", log, **environment) as server:
        yield server


@contextmanager
def nginx(folder: Path, port: int, ports: tuple[int, int]) -> Iterator[Path]:
    """Run the example; gives the certificate that it shows."""
    certificate, key = folder / "trellis.crt", folder / "trellis.key"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    text = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    replaced = {
        "listen 443": f"listen {port}",
        "127.0.0.1:8081": f"127.0.0.1:{ports[0]}",
        "127.0.0.1:8082": f"127.0.0.1:{ports[1]}",
        "/etc/nginx/": f"{folder}/",
        "http {": "http {\n"
        + "".join(
            f"{name}_temp_path {folder}/{name};\n"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        ),
    }
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    configuration = folder / "nginx.conf"
    configuration.write_text(f"daemon off; pid {folder}/pid; error_log {folder}/error;\n{text}")
    process = subprocess.Popen(["nginx", "-c", str(configuration), "-e", str(folder / "error")])
    try:
        yield certificate
    finally:
        process.terminate()
        assert process.wait(START_TIMEOUT_S) == 0


class Asking(threading.Thread):
    """Asks again and again, a new connection each second time, until it is told to end."""

    def __init__(self, url: str, certificate: Path) -> None:
        super().__init__()
        self.url = f"{url}/tag"
        self.certificate = str(certificate)
        self.statuses: list[int] = []
        self.is_over = threading.Event()

    def run(self) -> None:
        with requests.Session() as session:
            while not self.is_over.is_set():
                headers = {"Connection": "close"} if len(self.statuses) % 2 else {}
                answer = session.post(
                    self.url,
                    json={"text": "the bill"},
                    headers=headers,
                    verify=self.certificate,
                    timeout=TIMEOUT_S,
                )
                self.statuses.append(answer.status_code)


@pytest.fixture
def ports() -> tuple[int, int]:
    return free_port(), free_port()


def await_nginx(url: str, certificate: Path) -> None:
    while True:
        try:
            requests.get(f"{url}/livez", verify=str(certificate), timeout=TIMEOUT_S)
        except requests.ConnectionError:
            time.sleep(0.05)
        else:
            return


def test_a_rolling_restart_loses_no_request(tmp_path: Path, ports: tuple[int, int]) -> None:
    port = free_port()
    url = f"https://localhost:{port}"
    with ExitStack() as stack:
        running = [stack.enter_context(ExitStack()) for _ in ports]
        for one, its_port in zip(running, ports, strict=True):
            one.enter_context(instance(tmp_path, its_port))
        certificate = stack.enter_context(nginx(tmp_path, port, ports))
        await_nginx(url, certificate)
        asking = [Asking(url, certificate) for _ in range(CLIENTS)]
        for client in asking:
            client.start()
        for one, its_port in zip(running, ports, strict=True):
            one.close()  # SIGTERM, as an orchestrator; waits for the end
            one.enter_context(instance(tmp_path, its_port))
            asked = sum(len(client.statuses) for client in asking)
            while sum(len(client.statuses) for client in asking) < asked + 100:
                assert all(client.is_alive() for client in asking)
                time.sleep(0.05)
        for client in asking:
            client.is_over.set()
            client.join()
            assert set(client.statuses) == {200}


def test_streams_and_errors_pass_through(tmp_path: Path, ports: tuple[int, int]) -> None:
    port = free_port()
    url = f"https://localhost:{port}"
    with (
        instance(tmp_path, ports[0]),
        instance(tmp_path, ports[1]),
        nginx(tmp_path, port, ports) as certificate,
    ):
        await_nginx(url, certificate)
        answer = requests.post(
            f"{url}/tag", json={"text": 5}, verify=str(certificate), timeout=TIMEOUT_S
        )
        assert answer.headers["Content-Type"] == "application/problem+json"
        body = b'{"text": "the bill"}\n' * 3
        answer = requests.post(
            f"{url}/tag/batch",
            data=iter([body]),
            headers={"Content-Type": "application/x-ndjson"},
            verify=str(certificate),
            timeout=TIMEOUT_S,
        )
        assert len(answer.text.splitlines()) == 3
