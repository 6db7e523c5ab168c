"""The code blocks of a page: what is run, what is its answer, and what is left out and why."""

import re
from dataclasses import dataclass
from itertools import zip_longest

RUN = ("sh", "python")
ANSWERS = ("json", "text", "tsv", "conllu", "ndjson")
_BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n>]*) -->\n\n?)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes
    ----------
    kind : the language that stands behind its fence.
    text : what is in it, with the line break at its end.
    line : the number of its fence in the page, from 1.
    start, end : where `text` is in the page.
    reason : why it is not run, of a block that a comment above it says that of.
    """

    kind: str
    text: str
    line: int
    start: int
    end: int
    reason: str | None


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [
        Block(
            match["kind"],
            match["text"],
            page.count("\n", 0, match.start("kind")) + 1,
            *match.span("text"),
            match["reason"],
        )
        for match in _BLOCK.finditer(page)
    ]


def steps(page: str) -> list[tuple[Block, Block | None]]:
    """What a page runs, in order; each with the block right behind it, if that is its answer."""
    found = blocks(page)
    return [
        (block, behind if behind and behind.kind in ANSWERS and not behind.reason else None)
        for block, behind in zip_longest(found, found[1:])
        if block.kind in RUN and not block.reason
    ]
