"""`service.wsgi` under gunicorn: a start that fails says why, in one line."""

import gc
import os
import runpy
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from service.client import ProblemError, TrellisClient
from tests.api.conftest import (
    ROOT,
    START_TIMEOUT_S,
    gunicorn,
    serving,
    serving_environment,
)
from tests.api.fakes import make_model_dir

CONFIGURATION = ROOT / "service" / "gunicorn_settings.py"


@pytest.fixture(autouse=True)
def own_process() -> Iterator[None]:
    """The configuration, which is read in this process too, leaves it as it was."""
    handler = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, handler)
    gc.enable()


def started(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        gunicorn("service.wsgi:app"),
        cwd=ROOT,
        env=serving_environment({"TRELLIS_PORT": "0", **environment}),
        capture_output=True,
        text=True,
        timeout=START_TIMEOUT_S,
        check=False,
    )


def assert_failed(process: subprocess.CompletedProcess[str], *named: str) -> None:
    assert process.returncode == 3
    [line] = process.stderr.splitlines()
    for name in named:
        assert name in line
    assert process.stdout == ""


def test_a_missing_models_directory(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    assert_failed(started(TRELLIS_MODELS_DIR=str(missing)), str(missing))


def test_an_empty_models_directory(tmp_path: Path) -> None:
    assert_failed(started(TRELLIS_MODELS_DIR=str(tmp_path)), str(tmp_path))


def test_a_damaged_manifest(tmp_path: Path) -> None:
    manifest = tmp_path / "en-pos-bad" / "manifest.json"
    manifest.parent.mkdir()
    manifest.write_text("{")
    assert_failed(started(TRELLIS_MODELS_DIR=str(tmp_path)), str(manifest))


def test_a_truncated_model(tmp_path: Path) -> None:
    weights = make_model_dir(tmp_path, "en-pos-one") / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    assert_failed(started(TRELLIS_MODELS_DIR=str(tmp_path)), str(weights))


def test_a_named_model_that_is_not_there(tmp_path: Path) -> None:
    make_model_dir(tmp_path, "en-pos-one")
    process = started(TRELLIS_MODELS_DIR=str(tmp_path), TRELLIS_MODELS="en-pos-two")
    assert_failed(process, "en-pos-two")


def test_a_real_model_is_served(tmp_path: Path) -> None:
    models = tmp_path / "models"
    for name in ("en-pos-one", "en-pos-two"):
        make_model_dir(models, name)
    log = tmp_path / "log"
    with (
        serving(
            "service.wsgi:app",
            log,
            TRELLIS_MODELS_DIR=str(models),
            TRELLIS_MODELS="en-pos-two",
            TRELLIS_WORKERS="2",
        ) as server,
        TrellisClient(server.url) as trellis,
    ):
        assert trellis.ready()
        assert [(m["loaded"], m["default"]) for m in trellis.models()] == [
            (False, False),
            (True, True),
        ]
        answer = trellis.tag(text="the bill")
        assert answer["model"]["name"] == "en-pos-two"
        assert [token["tag"] for token in answer["tokens"]] == ["DT", "NN"]
        with pytest.raises(ProblemError, match="409"):
            trellis.tag(text="the bill", model="en-pos-one")
        with pytest.raises(ProblemError, match="404"):
            trellis.ner(text="the bill")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TRELLIS_PORT", "http"),
        ("TRELLIS_MAX_BODY_BYTES", "0"),
        ("TRELLIS_MAX_UNSEEN_WORDS", "1000000000000"),
        ("TRELLIS_METRICS_DIR", __file__),
    ],
)
def test_a_setting_that_cannot_be_used(name: str, value: str) -> None:
    assert_failed(started(**{name: value}), name)


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        process = started(TRELLIS_PORT=port)
    assert process.returncode == 3
    reason = "Address already in use; TRELLIS_HOST and TRELLIS_PORT name another address"
    assert process.stderr == f"127.0.0.1:{port}: {reason}\n"


def test_an_address_of_another_machine() -> None:
    process = started(TRELLIS_HOST="2001:db8::1")
    assert process.returncode == 3
    [line] = process.stderr.splitlines()
    assert line.startswith("[2001:db8::1]:0: ")


@pytest.mark.parametrize("name", ["LISTEN_FDS", "GUNICORN_FD"])
def test_an_address_is_not_tried_where_its_listener_is_handed_on(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    handler = signal.getsignal(signal.SIGALRM)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("TRELLIS_PORT", str(taken.getsockname()[1]))
        configuration = runpy.run_path(str(CONFIGURATION))
        with pytest.raises(SystemExit):
            configuration["on_starting"](SimpleNamespace(signal=handler))
        monkeypatch.setenv(name, "1")
        server = SimpleNamespace(signal=handler)
        configuration["on_starting"](server)
    assert callable(server.handle_term)
    signal.signal(signal.SIGALRM, handler)


def test_ctrl_c_ends_a_start_without_a_traceback(tmp_path: Path) -> None:
    make_model_dir(tmp_path, "en-pos-one")
    keys = tmp_path / "keys"
    os.mkfifo(keys)
    process = subprocess.Popen(
        gunicorn("service.wsgi:app"),
        cwd=ROOT,
        env=serving_environment(
            {
                "TRELLIS_PORT": "0",
                "TRELLIS_MODELS_DIR": str(tmp_path),
                "TRELLIS_API_KEYS_FILE": str(keys),
            }
        ),
        stderr=subprocess.PIPE,
    )
    with keys.open("w"):  # waits for the reader: the app is being made
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=START_TIMEOUT_S)
    assert (process.returncode, errors) == (130, b"")


@pytest.mark.parametrize(
    ("quota", "cpus"), [("max 100000", 6), ("250000 100000", 2), ("50000 100000", 1), (None, 6)]
)
@pytest.mark.parametrize("version", [1, 2])
def test_workers_are_the_cpus_of_the_container(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: int, quota: str | None, cpus: int
) -> None:
    if quota and version == 2:
        (tmp_path / "cpu.max").write_text(f"{quota}\n")
    elif quota:
        (tmp_path / "cpu").mkdir()
        limit, period = quota.replace("max", "-1").split()
        (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(f"{limit}\n")
        (tmp_path / "cpu" / "cpu.cfs_period_us").write_text(f"{period}\n")
    configuration = runpy.run_path(str(CONFIGURATION))
    function = configuration["available_cpus"]
    monkeypatch.setitem(function.__globals__, "_CGROUP", tmp_path)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(6)))
    assert function() == cpus


def test_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"HOST": "::1", "PORT": "8099", "WORKERS": "3"}.items():
        monkeypatch.setenv(f"TRELLIS_{name}", value)
    blas = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    for name in blas:
        monkeypatch.delenv(name, raising=False)
    configuration = runpy.run_path(str(CONFIGURATION))
    assert [os.environ.pop(name) for name in blas] == ["1", "1", "1"]
    assert configuration["bind"] == "[::1]:8099"
    assert configuration["workers"] == 3


@pytest.mark.parametrize("hook", ["when_ready", "on_reload"])
def test_garbage_is_collected_from_the_fork_on_and_what_is_loaded_is_left_out(hook: str) -> None:
    configuration = runpy.run_path(str(CONFIGURATION))
    assert not gc.isenabled()
    gc.unfreeze()
    configuration[hook](object())
    try:
        assert gc.isenabled()
        assert gc.get_freeze_count() > 1000
    finally:
        gc.unfreeze()
