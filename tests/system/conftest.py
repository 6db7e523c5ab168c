"""The image that the tests of containers run, and the page that those in a browser look at."""

import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.api.conftest import Server, serving
from tests.system.browser import CHROMIUM, chromium, opened
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


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with models that are shipped: a network, a CRF and an HMM, and small limits."""
    models = "en-ner-char-bilstm-crf,en-ner-crf,en-pos-crf,en-pos-hmm,en-pos-janet,en-upos-crf"
    environment = {"TRELLIS_MODELS": models, "TRELLIS_MAX_TEXT_CHARS": "500"}
    log = tmp_path_factory.mktemp("page") / "log"
    with serving("service.wsgi:app", log, **environment) as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    if shutil.which(CHROMIUM) is None:
        pytest.skip("chromium is not installed")
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    """The page as a stranger finds it."""
    with opened(browser, server.url) as page:
        expect(page.locator("[role=grid]")).to_be_visible()
        yield page
