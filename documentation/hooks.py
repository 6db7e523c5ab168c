"""What MkDocs does differently here: pages that lie elsewhere in the repository are in the site.

They keep their places, so that links work on GitHub; in the site they stand where they lie in the
repository, and what lies in `docs/` at its root.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
DOCS = "docs"
ICON = ROOT / "service" / "web" / "static" / "icon.svg"
ELSEWHERE = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "benchmarks/*.md",
    "deploy/RUNBOOK.md",
    "models/README.md",
    "models/*/README.md",
)
_TO_A_PAGE = re.compile(r"(?<=\]\()([^)#:\s]+\.md)(?=[)#])")


def pages_elsewhere() -> list[str]:
    """Paths in the repository of the pages that lie outside `docs/`."""
    return sorted(p.relative_to(ROOT).as_posix() for each in ELSEWHERE for p in ROOT.glob(each))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie elsewhere, and the icon of the page at `/`."""
    for path in pages_elsewhere():
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    files.append(File.generated(config, ICON.name, abs_src_path=str(ICON)))
    return files


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Give the dialog of the search the name that the theme leaves out."""
    return output.replace('class="md-search"', 'class="md-search" aria-label="Search"')


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links between places of the repository into links between places of the site."""
    elsewhere = pages_elsewhere()
    in_site = page.file.src_uri
    in_repository = in_site if in_site in elsewhere else posixpath.join(DOCS, in_site)

    def link(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(in_repository), match[1]))
        if target not in elsewhere:
            target = posixpath.relpath(target, DOCS)
        return posixpath.relpath(target, posixpath.dirname(in_site) or ".")

    return _TO_A_PAGE.sub(link, markdown)
