"""The pages whose code blocks are followed, and where they lie."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def followed_pages() -> list[Path]:
    """All of `docs/`, and the pages of the site that lie elsewhere and have blocks."""
    return [
        *sorted(DOCS.rglob("*.md")),
        ROOT / "deploy" / "RUNBOOK.md",
        ROOT / "models" / "README.md",
    ]
