"""Answers as pages show them, and whether what came back is what a page shows."""

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

from documentation.blocks import Block

WIDTH = 96
"""Characters of a line that fit beside the table of contents."""
DECIMALS = 3
_TOLERANCE = 0.0015
"""Of what is rounded: another processor adds up in another order."""


def agrees(answer: Block, printed: str) -> bool:
    """Whether a block shows what was printed, but for what differs between installations."""
    if answer.kind != "json":
        return answer.text == printed or answer.text.rstrip("\n") == printed.rstrip("\n")
    return _agree(json.loads(answer.text), json.loads(printed))


def shown(kind: str, printed: str) -> str:
    """The text of the block that shows what was printed."""
    text = _laid_out(_rounded(json.loads(printed)), 0, 0) if kind == "json" else printed
    return text if text.endswith("\n") else text + "\n"


def _agree(expected: Any, actual: Any) -> bool:
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(
            name == "python" or _agree(value, actual[name]) for name, value in expected.items()
        )
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(_agree, expected, actual))
    if isinstance(expected, float) and isinstance(actual, float):
        return math.isclose(expected, actual, rel_tol=0, abs_tol=_TOLERANCE)
    return type(expected) is type(actual) and bool(expected == actual)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    return round(value, DECIMALS) if isinstance(value, float) else value


def _laid_out(value: Any, indent: int, before: int) -> str:
    """JSON in which what fits stands in one line; `before` is what the line holds already."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or before + len(line) < WIDTH:
        return line
    inner = indent + 2
    if isinstance(value, dict):
        names = [f"{json.dumps(name, ensure_ascii=False)}: " for name in value]
        members = list(value.values())
    else:
        names, members = [""] * len(value), value
    parts = [
        (name + _laid_out(member, inner, inner + len(name)), isinstance(member, (dict, list)))
        for name, member in zip(names, members, strict=True)
    ]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    lines = ",\n".join(" " * inner + line for line in _filled(parts, inner))
    return f"{opening}\n{lines}\n{' ' * indent}{closing}"


def _filled(parts: Iterable[tuple[str, bool]], indent: int) -> Iterator[str]:
    """Lines of parts; below the top level, numbers and strings share one as far as they fit."""
    line = ""
    for part, has_parts in parts:
        if has_parts or indent == 2 or indent + len(f"{line}, {part}") >= WIDTH:
            if line:
                yield line
            line = part
        else:
            line = f"{line}, {part}" if line else part
        if has_parts:
            yield line
            line = ""
    if line:
        yield line
