"""The image that the tests of containers run."""

import re
import subprocess

import pytest

from tests.system.containers import ROOT, build, make_base, missing_tool


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The image, built by README's command from a clone that only its owner can read."""
    if tool := missing_tool():
        pytest.skip(f"{tool} is not installed")
    clone = tmp_path_factory.mktemp("image") / "trellis"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True, umask=0o077)
    readme = (clone / "README.md").read_text(encoding="utf-8")
    [command] = re.findall(r"^docker build .*$", readme, re.MULTILINE)
    make_base()
    build(command, clone)
