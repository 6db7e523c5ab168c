"""Links of all pages: files and headings that are there, addresses that can be one."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).parents[3]
PAGES = [
    ROOT / name
    for pattern in ("*.md", "docs/**/*.md", "deploy/*.md", "models/**/*.md", "benchmarks/*.md")
    for name in sorted(ROOT.glob(pattern))
]
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`]+`")
LINK = re.compile(r"\]\(([^)\s]+)\)|<(https?://[^>]+)>")
PATH = re.compile(r"`((?:benchmarks|deploy|docs|documentation|models|service|tests)/[\w./-]+)`")


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def links(page: Path) -> list[str]:
    text = CODE.sub("", FENCED.sub("", page.read_text(encoding="utf-8")))
    return [here or bare for here, bare in LINK.findall(text)]


def anchors(page: Path) -> set[str]:
    """What GitHub calls the headings of a page."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
    return {
        slug if slugs[:i].count(slug) == 0 else f"{slug}-{slugs[:i].count(slug)}"
        for i, slug in enumerate(slugs)
    }


def test_there_are_pages_with_links() -> None:
    assert len(PAGES) > 40
    assert sum(len(links(page)) for page in PAGES) > 150


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    wrong = []
    for link in links(page):
        address = urlsplit(link)
        if address.scheme:
            if address.scheme not in ("http", "https") or "." not in address.netloc:
                wrong.append(link)
            continue
        target = (page.parent / address.path).resolve() if address.path else page
        is_here = target.is_relative_to(ROOT) and target.exists()
        if not is_here or (address.fragment and address.fragment not in anchors(target)):
            wrong.append(link)
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_paths_that_are_named_are_there(page: Path) -> None:
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    named = [path for path in PATH.findall(text) if "NAME" not in path]
    assert [path for path in named if not (ROOT / path).exists()] == []
