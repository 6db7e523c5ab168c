"""docs/reliability.md names tests as proof: they have to be there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")


def test_every_test_that_is_named_is_there() -> None:
    named = re.findall(r"`((?:\w+/)+test_\w+\.py)::(test_\w+)`", PAGE)
    gone = [
        name
        for file, name in named
        if f"def {name}(" not in (ROOT / "tests" / file).read_text(encoding="utf-8")
    ]
    assert len(named) > 20
    assert gone == []


def test_every_file_of_a_command_is_there() -> None:
    files = re.findall(r"PYTEST (tests/\S+\.py)", PAGE)
    assert len(files) > 5
    assert [file for file in files if not (ROOT / file).is_file()] == []
