"""What programs write of the docs: parts of pages between two comments, and drawings."""

import re
from collections.abc import Callable
from pathlib import Path

from documentation.choice import choice_svg, models_table
from documentation.commands import commands_reference
from documentation.figures import measured_models
from documentation.pages import DOCS
from documentation.settings import settings_table

_PARTS: dict[str, dict[str, Callable[[], str]]] = {
    "settings.md": {"settings": settings_table},
    "cli.md": {"commands": commands_reference},
    "choosing.md": {
        "entities": lambda: models_table(measured_models("ner")),
        "parts of speech": lambda: models_table(measured_models("tag")),
    },
}
_DRAWINGS: dict[str, Callable[[], str]] = {
    "drawings/entities.svg": lambda: choice_svg(measured_models("ner"), "F1 of entities"),
    "drawings/parts-of-speech.svg": lambda: choice_svg(measured_models("tag"), "Accuracy of tags"),
}


def made_files() -> dict[Path, str]:
    """The files that hold something made, as they have to be."""
    pages = {DOCS / name: _filled(DOCS / name, parts) for name, parts in _PARTS.items()}
    return pages | {DOCS / name: make() for name, make in _DRAWINGS.items()}


def _filled(page: Path, parts: dict[str, Callable[[], str]]) -> str:
    text = page.read_text(encoding="utf-8")
    for name, make in parts.items():
        begin, end = f"<!-- made by `make docs`: {name} -->", f"<!-- end: {name} -->"
        pattern = re.compile(f"(?<={re.escape(begin)}\n).*?(?={re.escape(end)})", re.DOTALL)
        places = list(pattern.finditer(text))
        if len(places) != 1:
            raise ValueError(f"{page} needs one place for {name!r}, and has {len(places)}")
        text = f"{text[: places[0].start()]}\n{make()}\n\n{text[places[0].end() :]}"
    return text
