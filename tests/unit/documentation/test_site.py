"""The site: MkDocs builds it without a warning, and nothing in it is fetched from elsewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from documentation.pages import DOCS, ROOT

FETCHED = re.compile(
    r'(?:<(?:script|img|link|iframe)\b[^>]*?\b(?:src|href)=|url\()"?(https?://[^")]*)'
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return site


def test_every_page_is_in_the_site(site: Path) -> None:
    pages = [path.relative_to(DOCS) for path in DOCS.rglob("*.md")]
    missing = [str(page) for page in pages if not (site / page.with_suffix(".html")).is_file()]
    assert missing == []
    assert (site / "deploy" / "RUNBOOK.html").is_file()
    assert (site / "models" / "en-ner-crf" / "index.html").is_file()


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    files = [path for path in site.rglob("*") if path.suffix in (".html", ".css", ".svg")]
    assert len(files) > 40
    for path in files:
        assert FETCHED.findall(path.read_text(encoding="utf-8")) == [], path


def test_pages_elsewhere_lead_back_into_the_docs(site: Path) -> None:
    runbook = (site / "deploy" / "RUNBOOK.html").read_text(encoding="utf-8")
    assert 'href="../monitoring.html"' in runbook
    container = (site / "container.html").read_text(encoding="utf-8")
    assert 'href="deploy/RUNBOOK.html"' in container
