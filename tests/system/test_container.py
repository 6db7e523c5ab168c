"""The image, built as README says: what is in it, and its containers as they run in production."""

import json
import os
import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from service.store.manifest import WEIGHTS_FILE
from tests.system.containers import (
    DOCKERFILE,
    IMAGE,
    ROOT,
    START_TIMEOUT_S,
    Container,
    podman,
    running,
)


def commands(file: str) -> list[str]:
    """The commands that start a container in a page of the documentation."""
    return re.findall(r"^docker run .*$", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


[PLAIN] = commands("README.md")
HARDENED, WITH_OTHER_MODELS = commands("docs/container.md")

MAX_IMAGE_BYTES = 360_000_000
UID = "10001"
SENTENCE = {"text": "Jane Villanueva of United Airlines"}
MODEL = "en-pos-janet"

pytestmark = pytest.mark.usefixtures("image")


@pytest.fixture(scope="module")
def container() -> Iterator[Container]:
    with running(HARDENED) as container:
        container.await_ready()
        yield container


def ask(container: Container, path: str) -> dict[str, object]:
    answer = requests.post(container.url + path, json=SENTENCE, timeout=START_TIMEOUT_S)
    assert answer.status_code == 200
    result: dict[str, object] = answer.json()
    return result


def inspected() -> dict[str, object]:
    [image] = json.loads(podman("image", "inspect", IMAGE).stdout)
    result: dict[str, object] = image
    return result


def found(expression: str, user: str = UID) -> list[str]:
    """The lines that `find` prints in a container of its own, errors too."""
    with running(PLAIN, "--user", user, program=["find", *expression.split()]) as container:
        container.exit_code()
        return container.log.splitlines()


def models_directory(folder: Path) -> Path:
    """A models directory with one small model, which every user may read."""
    directory = folder / "models"
    target = directory / MODEL
    target.mkdir(parents=True)
    for file in (ROOT / "models" / MODEL).iterdir():
        shutil.copyfile(file, target / file.name)
    for path in (directory, *directory.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return directory


def test_the_image_is_small() -> None:
    assert inspected()["Size"] <= MAX_IMAGE_BYTES


def test_the_image_holds_no_installer_compiler_or_cache() -> None:
    names = ("pip", "setuptools", "uv", "cc", "c++", "make", ".cache")
    expression = " -o ".join(f"-name {name}" for name in names)
    assert found(f"/ -xdev {expression}", user="0") == []


def test_the_user_of_the_image_reads_all_of_it_and_writes_nothing() -> None:
    """The checkout it was built from is readable to nobody else (`image`)."""
    unfit = "-not -type l ( -not -readable -o -writable )"
    assert found(f"/app /models /opt/trellis {unfit}") == []


def test_the_labels_say_what_the_image_is(container: Container) -> None:
    labels = inspected()["Labels"]
    assert isinstance(labels, dict)
    prefix = "org.opencontainers.image."
    version = requests.get(f"{container.url}/version", timeout=START_TIMEOUT_S).json()
    assert labels[f"{prefix}version"] == version["version"]
    assert labels[f"{prefix}licenses"] == "Apache-2.0 AND CC-BY-SA-4.0"
    assert labels[f"{prefix}base.name"]


def test_python_is_that_of_the_image_that_the_dockerfile_names(container: Container) -> None:
    """So the stand-in is of the same release."""
    version = requests.get(f"{container.url}/version", timeout=START_TIMEOUT_S).json()
    major_minor = ".".join(version["python"].split(".")[:2])
    assert f"/python:{major_minor}-slim-" in DOCKERFILE


def test_the_server_has_no_rights(container: Container) -> None:
    lines = container.run("cat", "/proc/1/status").stdout.splitlines()
    status = dict(line.split(":\t", 1) for line in lines)
    assert status["Uid"].split() == [UID] * 4
    assert int(status["CapEff"], 16) == 0
    assert container.run("cat", "/proc/1/cmdline").stdout.startswith("python\0-m\0gunicorn")


def test_the_commands_are_hardened() -> None:
    for option in ("--read-only", "--tmpfs /tmp", "--cap-drop ALL"):
        assert f" {option} " in HARDENED


def test_the_root_is_read_only(container: Container) -> None:
    for path in ("/file", "/app/file", "/models/file"):
        assert "Read-only file system" in container.run("touch", path).stderr
    assert container.run("touch", "/tmp/file").returncode == 0


def test_the_health_check_passes_where_the_server_is_ready(container: Container) -> None:
    podman("healthcheck", "run", container.name)
    assert container.inspect("{{.State.Health.Status}}") == "healthy"


def test_the_health_check_fails_where_no_server_answers(container: Container) -> None:
    check = podman(
        "exec", "--env", "TRELLIS_PORT=1", container.name, "python", "healthcheck.py", check=False
    )
    assert check.returncode == 1
    [line] = check.stderr.splitlines()
    assert line.startswith("no answer on port 1")


def test_the_command_line_is_in_the_image(container: Container) -> None:
    assert "en-ner-crf" in container.run("trellis", "health").stdout


def test_a_mount_replaces_the_models_and_any_user_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models_directory(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))  # as a shell sets it
    with running(WITH_OTHER_MODELS, "--user", "54321") as container:
        container.await_ready()
        models = requests.get(f"{container.url}/models", timeout=START_TIMEOUT_S).json()["models"]
        assert [model["name"] for model in models] == [MODEL]
        assert ask(container, "/tag")["model"] == {"name": MODEL, "version": "1.0.0"}


def test_broken_models_end_the_start_with_one_line(tmp_path: Path) -> None:
    models = models_directory(tmp_path)
    weights = models / MODEL / WEIGHTS_FILE
    os.truncate(weights, weights.stat().st_size - 1)
    with running(HARDENED, "--volume", f"{models}:/models:ro") as container:
        assert container.exit_code() == 3
        [line] = container.log.splitlines()
        assert line.startswith(f"/models/{MODEL}/{WEIGHTS_FILE}: ")


def test_workers_are_the_cpus_that_the_container_may_use(container: Container) -> None:
    assert container.workers == len(os.sched_getaffinity(0))
    with running(HARDENED, "--cpus", "1") as limited:
        limited.await_ready()
        assert limited.workers == 1


def test_a_request_in_flight_at_sigterm_is_answered() -> None:
    body = json.dumps(SENTENCE).encode()
    head = (
        "POST /ner HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
    )
    with running(HARDENED) as container:
        container.await_ready()
        address = ("127.0.0.1", container.port)
        with socket.create_connection(address, timeout=START_TIMEOUT_S) as connection:
            connection.sendall(head.encode())
            # the answer of a server that has read the head and waits for the body
            assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
            podman("kill", "--signal", "TERM", container.name)
            while "Handling signal: term" not in container.log:
                assert container.inspect("{{.State.Running}}") == "true", container.log
            connection.sendall(body)
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        assert answer.startswith(b"HTTP/1.1 200 ")
        labels = [span["label"] for span in json.loads(answer.partition(b"\r\n\r\n")[2])["spans"]]
        assert labels == ["PER", "ORG"]
        assert container.exit_code() == 0


@pytest.mark.parametrize(("signal", "exit_code"), [("TERM", 0), ("KILL", 137)])
def test_a_container_that_ended_is_started_again(signal: str, exit_code: int) -> None:
    with running(HARDENED) as container:
        container.await_ready()
        answer = ask(container, "/ner")
        podman("kill", "--signal", signal, container.name)
        assert container.exit_code() == exit_code
        podman("start", container.name)
        container.await_ready()
        assert ask(container, "/ner") == answer
