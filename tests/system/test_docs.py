"""The docs as a reader follows them: what their commands and programs print is what they say."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from documentation.answers import agrees
from documentation.blocks import steps
from documentation.pages import ROOT, followed_pages
from documentation.reading import environment, followed, serving

PAGES = [page for page in followed_pages() if steps(page.read_text(encoding="utf-8"))]

pytestmark = [
    pytest.mark.skipif(shutil.which(tool) is None, reason=f"{tool} is not installed")
    for tool in ("bash", "curl", "python3")
]


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a server with the default models, as `trellis serve` starts it."""
    with serving("trellis serve", tmp_path_factory.mktemp("server"), environment()) as port:
        yield port


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_is_answered_as_it_says(page: Path, port: int, tmp_path: Path) -> None:
    for block, answer, printed in followed(page.read_text(encoding="utf-8"), tmp_path, port):
        if answer:
            where = f"{page.relative_to(ROOT)}:{block.line}"
            assert agrees(answer, printed), f"{where} says\n{answer.text}and it is\n{printed}"
