"""Commands that pages name in passing, which nothing runs: they are there."""

import re

import pytest

from documentation.pages import ROOT, followed_pages
from service.cli import main

PAGES = [*followed_pages(), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
_MAKE = re.compile(r"(?:`|^ {4})make ([a-z-]+)", re.MULTILINE)
_TRELLIS = re.compile(r"(?:`|^ {4}|bin/)trellis ([a-z]+)([^`\n]*)", re.MULTILINE)
_OPTION = re.compile(r"(?<=\s)--[a-z-]+")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_is_there(page):
    text = page.read_text(encoding="utf-8")
    assert set(_MAKE.findall(text)) <= TARGETS
    for name, rest in _TRELLIS.findall(text):
        options = {option for each in main.commands[name].params for option in each.opts}
        given = set(_OPTION.findall(re.split(r"[|>;]", rest)[0]))
        assert given <= options | {"--help"}, f"trellis {name}{rest}"


def test_pages_name_some():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert len(set(_MAKE.findall(text))) > 8
    assert {name for name, _ in _TRELLIS.findall(text)} >= {"train", "serve", "calibrate"}
