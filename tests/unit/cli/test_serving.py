"""`trellis serve`: gunicorn, with the options as settings."""

import os
import socket
import subprocess
import time

from service.client import TrellisClient
from tests.api.conftest import free_port
from tests.unit.cli.conftest import environment

START_TIMEOUT_S = 60


def test_options_win_over_the_settings_that_they_stand_for(trellis, models, monkeypatch):
    monkeypatch.setenv("TRELLIS_PORT", "1")
    monkeypatch.setenv("TRELLIS_WORKERS", "7")
    started = []
    monkeypatch.setattr(os, "execve", lambda *arguments: started.append(arguments))
    assert trellis("serve", "--port", 0, "--host", "::1", "--models", models).exit_code == 0
    [(_, command, variables)] = started
    assert command[1:3] == ["-m", "gunicorn"]
    settings = {"PORT": "0", "HOST": "::1", "WORKERS": "7", "MODELS_DIR": str(models)}
    assert (
        settings.items()
        <= {name.removeprefix("TRELLIS_"): value for name, value in variables.items()}.items()
    )


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_it_serves_wherever_it_is_started(program, models, tmp_path):
    (tmp_path / "service").mkdir()  # a package of the same name
    (tmp_path / "service/__init__.py").write_text("raise RuntimeError")
    (tmp_path / "models").symlink_to(models)
    port = free_port()
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, "serve", "--port", str(port), "--workers", "1", "--models", "models"],
            cwd=tmp_path,
            env=environment(),
            stdout=log,
            stderr=log,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not listens(port):
            assert process.poll() is None, (tmp_path / "log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        with TrellisClient(url) as client:
            assert client.ner(text="in Paris")["model"]["name"] == "en-ner-made"
        command = [program, "health", "--url", url]
        health = subprocess.run(command, env=environment(), capture_output=True, check=True)
        assert b"en-ner-made 1.0.0\n" in health.stdout
    finally:
        process.terminate()  # it has become gunicorn
        assert process.wait(timeout=START_TIMEOUT_S) == 0


def test_a_start_that_fails_has_the_exit_code_of_the_server(program, tmp_path):
    result = subprocess.run(
        [program, "serve", "--port", "0", "--models", tmp_path],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 3
    assert result.stderr == f"{tmp_path}: no model lies there\n"
