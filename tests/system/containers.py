"""Images and containers by podman, which takes the commands of docker."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
IMAGE = "localhost/trellis-test"
# A stand-in for the image that the Dockerfile names: no registry is needed (docs/container.md).
BASE = "localhost/trellis-test-base"
START_TIMEOUT_S = 120
ENVIRONMENT = {
    # The tests run the health check themselves; where there is no systemd, podman could not.
    "DISABLE_HC_SYSTEMD": "true",
    "CONTAINERS_CONF": str(Path(__file__).with_name("containers.conf")),
    **os.environ,
}


def missing_tool() -> str | None:
    """A tool that is needed and not installed."""
    return next((tool for tool in ("git", "podman", "mmdebstrap") if not shutil.which(tool)), None)


def podman(
    *arguments: str, directory: Path = ROOT, check: bool = True
) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        ["podman", *arguments],
        cwd=directory,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not check or result.returncode == 0, f"{arguments}: {result.stdout}{result.stderr}"
    return result


def make_base() -> None:
    """Make `BASE` of Debian's packages, unless it is there."""
    if podman("image", "exists", BASE, check=False).returncode == 0:
        return
    [suite] = re.findall(r"^ARG PYTHON_IMAGE=\S+-slim-(\w+)$", DOCKERFILE, re.MULTILINE)
    command = ["mmdebstrap", "--quiet", "--variant=minbase"]
    command += ["--include=python3,python3-venv,ca-certificates"]
    # else the package usrmerge comes, and all of Perl with it
    command += ["--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr"]
    command += ["--dpkgopt=force-unsafe-io"]  # nothing is kept where the machine stops
    command += [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "locale", "man")]
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "base.tar"
        subprocess.run([*command, suite, str(archive)], check=True)
        podman("import", "--quiet", str(archive), BASE)


def build(command: str, directory: Path) -> None:
    """Build `IMAGE` with README's command for docker, on `BASE`."""
    engine, verb, *rest = command.replace("--tag trellis", f"--tag {IMAGE}").split()
    assert (engine, verb) == ("docker", "build")
    options = ["--format", "docker", "--pull=never", "--network", "host"]
    options += ["--build-arg", f"PYTHON_IMAGE={BASE}"]
    for file in ("/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt"):  # the host's way to PyPI
        if Path(file).exists():
            options += ["--volume", f"{file}:{file}:ro"]
    podman("build", *options, *rest, directory=directory)


@dataclass(frozen=True)
class Container:
    """A container of `IMAGE`; it may have ended."""

    name: str

    @property
    def port(self) -> int:
        """The port of the host that leads to the service."""
        return int(podman("port", self.name, "8080/tcp").stdout.rpartition(":")[2])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        result = podman("logs", self.name)
        return result.stdout + result.stderr

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the container as its user."""
        return podman("exec", self.name, *command, check=False)

    def inspect(self, template: str) -> str:
        return podman("inspect", "--format", template, self.name).stdout.strip()

    @property
    def workers(self) -> int:
        """How many processes gunicorn, which has the number 1, has started."""
        return podman("top", self.name, "ppid").stdout.split().count("1")

    def exit_code(self) -> int:
        """Wait for the container to end by itself."""
        return int(podman("wait", self.name).stdout)

    def await_ready(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._is_ready():
            assert self.inspect("{{.State.Running}}") == "true", self.log
            assert time.monotonic() < deadline, self.log
            time.sleep(0.1)

    def _is_ready(self) -> bool:
        try:
            return requests.get(f"{self.url}/readyz", timeout=START_TIMEOUT_S).ok
        except requests.ConnectionError:
            return False


@contextmanager
def running(command: str, *options: str, program: Sequence[str] = ()) -> Iterator[Container]:
    """Start a container, and remove it afterwards.

    Parameters
    ----------
    command : `docker run` as the documentation has it; name, port and image are the test's.
    options : more options.
    program : what to run instead of the server.
    """
    before, after = "docker run --detach --name trellis --publish 127.0.0.1:8080:8080 ", "trellis"
    assert command.startswith(before)
    assert command.endswith(after)
    documented = shlex.split(os.path.expandvars(command.removeprefix(before).removesuffix(after)))
    name = f"trellis-test-{uuid.uuid4().hex}"
    publish = ["--publish", "127.0.0.1::8080"]
    podman(
        *("run", "--detach", "--name", name, *publish),
        *(*documented, *options, IMAGE, *program),
    )
    try:
        yield Container(name)
    finally:
        podman("rm", "--force", "--time", "0", name)
