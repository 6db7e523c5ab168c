"""README as a newcomer follows it: its commands, run in a fresh clone, answer what it says."""

import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.made_corpora import ner_sentences, tag_sentences, write_data
from tests.system.containers import podman, running

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)\n```", README, re.DOTALL)
START_TIMEOUT_S = 300

needs_tools = [
    pytest.mark.skipif(shutil.which(tool) is None, reason=f"{tool} is not installed")
    for tool in ("git", "make", "curl")
]
pytestmark = needs_tools


def commands(beginning: str) -> list[str]:
    """The lines of README's shell blocks that begin so."""
    lines = [line for kind, block in BLOCKS if kind == "sh" for line in block.splitlines()]
    return [line for line in lines if line.startswith(beginning)]


def answers() -> list[tuple[str, str, str]]:
    """Each `curl` of README, and the kind and text of the block that stands behind it."""
    return [
        (command, *answer)
        for (kind, command), answer in itertools.pairwise(BLOCKS)
        if kind == "sh" and command.startswith("curl")
    ]


def typed() -> list[tuple[str, str]]:
    """Each command of README that asks no server, and what it prints."""
    return [
        (command, printed)
        for (kind, command), (_, printed) in itertools.pairwise(BLOCKS)
        if kind == "sh" and re.search(r"\.venv/bin/trellis (ner|tag)\b", command)
    ]


def parsed(kind: str, text: str) -> object:
    """An answer, JSON or not, without the version of Python that it may name."""
    if kind != "json":
        return text.strip()
    answer = json.loads(text)
    answer.pop("python", None)
    return answer


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh clone of what is committed."""
    clone = tmp_path_factory.mktemp("clone") / "trellis"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    return clone


@pytest.fixture(scope="module")
def port(clone: Path) -> Iterator[int]:
    """The port of the server that `make serve` starts in the clone."""
    with serving("make serve", clone) as port:
        yield port


@pytest.fixture(scope="module")
def container_port(image: None) -> Iterator[int]:
    """The port of the container that README's `docker run` starts."""
    [command] = commands("docker run ")
    with running(command) as container:
        container.await_ready()
        yield container.port


@contextmanager
def serving(command: str, clone: Path) -> Iterator[int]:
    """Run a command that serves, on a free port, until it is ready; end it afterwards."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("TRELLIS_", "MAKE"))}
    log_file = clone.parent / f"log-{port}"
    with log_file.open("wb") as log:
        server = subprocess.Popen(
            command,
            shell=True,
            cwd=clone,
            env={**environment, "TRELLIS_PORT": str(port)},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + START_TIMEOUT_S
        while run(f"curl -fs localhost:{port}/readyz", clone).returncode:
            assert server.poll() is None, log_file.read_text()
            assert time.monotonic() < deadline, log_file.read_text()
            time.sleep(0.5)
        yield port
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(timeout=60)


def run(command: str, directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, shell=True, cwd=directory, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(("command", "kind", "expected"), answers(), ids=range(len(answers())))
@pytest.mark.parametrize("server", ["port", "container_port"])
def test_a_request_is_answered_as_readme_says(
    server: str, command: str, kind: str, expected: str, clone: Path, request: pytest.FixtureRequest
) -> None:
    port = request.getfixturevalue(server)
    result = run(command.replace("localhost:8080", f"127.0.0.1:{port}"), clone)
    assert result.returncode == 0
    assert parsed(kind, result.stdout) == parsed(kind, expected)


def test_the_container_stops_as_readme_says(image: None) -> None:
    [start] = commands("docker run ")
    [stop] = commands("docker stop ")
    with running(start) as container:
        container.await_ready()
        assert stop.startswith("docker stop --time ")
        assert stop.endswith(" trellis")
        podman(*stop.split()[1:-1], container.name)
        assert container.exit_code() == 0


def test_other_models_are_loaded_by_name(port: int, clone: Path) -> None:
    [command] = re.findall(r"`(TRELLIS_MODELS=\S+ make serve)`", README)
    with serving(command, clone) as other_port:
        answer = run(f"curl -s localhost:{other_port}/health", clone).stdout
    loaded = [model["name"] for model in json.loads(answer)["models"] if model["loaded"]]
    assert loaded == re.findall(r"en-[a-z-]+", command)


def test_every_endpoint_stands_in_readme(port: int, clone: Path) -> None:
    document = json.loads(run(f"curl -s localhost:{port}/openapi.json", clone).stdout)
    asked = " ".join(command for command, _, _ in answers())
    paths = {path.replace("{name}", "en-pos-janet") for path in document["paths"]}
    missing = {path for path in paths if f"localhost:8080{path} " not in f"{asked} "}
    assert not missing


def test_the_client_prints_what_readme_says(port: int, clone: Path) -> None:
    [program] = [block for kind, block in BLOCKS if kind == "python"]
    printed = next(b[1] for a, b in itertools.pairwise(BLOCKS) if a == ("python", program))
    (clone / "ask.py").write_text(program.replace("localhost:8080", f"localhost:{port}"))
    result = run("PYTHONPATH=. .venv/bin/python ask.py", clone)
    assert result.stdout.strip() == printed.strip()


@pytest.mark.parametrize(("command", "printed"), typed())
def test_the_command_line_prints_what_readme_says(
    port: int, clone: Path, command: str, printed: str
) -> None:
    result = run(command, clone)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.rstrip() == printed


def test_the_command_line_lists_the_models(port: int, clone: Path) -> None:
    [command] = commands(".venv/bin/trellis models")
    result = run(command, clone)
    assert result.returncode == 0
    models = (clone / "models").glob("*/manifest.json")
    listed = [line.split()[0] for line in result.stdout.splitlines()]
    assert listed[1:] == sorted(manifest.parent.name for manifest in models)


def test_the_command_line_serves(port: int, clone: Path) -> None:
    [command] = commands(".venv/bin/trellis serve")
    with serving(command, clone) as other_port:
        assert run(f"curl -fs localhost:{other_port}/readyz", clone).returncode == 0


def test_health_says_that_the_server_is_ready(port: int, clone: Path) -> None:
    [command] = commands(".venv/bin/trellis health")
    result = run(command.replace("localhost:8080", f"localhost:{port}"), clone)
    assert result.returncode == 0
    assert "en-ner-crf" in result.stdout


def test_the_models_of_the_table_are_those_that_ship(port: int, clone: Path) -> None:
    models = json.loads(run(f"curl -s localhost:{port}/models", clone).stdout)["models"]
    rows = dict(re.findall(r"^\| `(en-[\w-]+)` \|(.*)\|$", README, re.MULTILINE))
    assert set(rows) == {model["name"] for model in models}
    for model in models:
        # every figure of a row is a test score of the model's manifest
        scores = {f"{100 * s['value']:.1f}" for s in model["scores"] if s["split"] == "test"}
        figures = set(re.findall(r"\b\d+\.\d\b(?! MB)", rows[model["name"]]))
        assert figures <= scores, model["name"]
        assert figures or not scores


@pytest.mark.parametrize("command", commands(".venv-dev/bin/trellis"))
def test_a_model_is_measured_and_made_again(command: str, clone: Path, tmp_path: Path) -> None:
    [model] = re.findall(r"models/(en-[a-z-]+)", command)
    data = tmp_path / "DATA"
    make = ner_sentences if "-ner-" in model else tag_sentences
    write_data(data, clone / "models" / model / "recipe.toml", make)
    # the commands use the development environment, which this test runs in
    environment = clone / ".venv-dev"
    if not environment.exists():
        environment.symlink_to(ROOT / ".venv-dev")
    result = run(f"PYTHONPATH={clone} {command.replace('DATA', str(data))}", clone)
    assert result.returncode == 0, result.stderr
    metric = "entity_f1" if "-ner-" in model else "tagged_word_f1|accuracy"
    assert re.search(f" test: ({metric}) ", result.stdout)
    if "train" in command:
        status = run("git status --short", clone).stdout
        assert f"models/{model}/weights.safetensors" in status
        run("git checkout --quiet models", clone)
