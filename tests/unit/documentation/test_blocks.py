"""Blocks of pages: which are run, what answers them, and why some are left out."""

import re
from pathlib import Path

import pytest

from documentation.answers import agrees, shown
from documentation.blocks import RUN, Block, blocks, steps
from documentation.pages import ROOT, followed_pages

PAGES = followed_pages()
# Why a block is not run, its kind, and what every line of it begins with.
REASONS = {
    "a container": ("sh", r"(docker|podman|kubectl) "),  # see tests/system/test_container.py
    "an installation": ("sh", r"make (dev|serve)$"),  # see tests/system/test_readme.py
    "a recipe": ("toml", r""),  # see tests/unit/training/test_recipe.py
    "a terminal": ("sh", r".*/dev/tty"),
    "the data sets": ("sh", r".* DATA/"),
    "hours of training": ("sh", r"\.venv-train/bin/trellis (pretrain|train) "),
    "settings of nginx": ("nginx", r""),
    "a line of the log": ("json", r"\{"),  # see tests/api/test_logs.py
}

PAGE = """\
Text.

```sh
echo 1
echo 2
```

```text
1
2
```

<!-- not run: a container -->

```sh
docker ps
```

```json
{"a": 1}
```

```python
print(3)
```
"""


def block(kind: str, text: str) -> Block:
    return Block(kind, text, 1, 0, 0, None)


def test_blocks_know_their_kind_their_line_and_their_place() -> None:
    found = blocks(PAGE)
    assert [each.kind for each in found] == ["sh", "text", "sh", "json", "python"]
    assert [PAGE.splitlines()[each.line - 1] for each in found] == [f"```{b.kind}" for b in found]
    assert all(PAGE[each.start : each.end] == each.text for each in found)
    assert [each.reason for each in found] == [None, None, "a container", None, None]


def test_a_step_has_the_answer_right_behind_it() -> None:
    first, second = steps(PAGE)
    assert (first[0].text, first[1] and first[1].text) == ("echo 1\necho 2\n", "1\n2\n")
    assert (second[0].kind, second[1]) == ("python", None)


def test_json_agrees_but_for_rounding_and_the_version_of_python() -> None:
    answer = block("json", '{"score": 0.123, "python": "3.11.7", "tags": ["O"]}')
    assert agrees(answer, '{"python": "3.13.0", "score": 0.1231234, "tags": ["O"]}')
    assert not agrees(answer, '{"python": "3.13.0", "score": 0.125, "tags": ["O"]}')
    assert not agrees(answer, '{"python": "3.13.0", "score": 0.123, "tags": ["O", "O"]}')
    assert not agrees(answer, '{"score": 0.123, "tags": ["O"]}')
    assert not agrees(block("json", '{"n": 1}'), '{"n": true}')


def test_text_agrees_as_it_stands() -> None:
    assert agrees(block("text", "a\n"), "a")
    assert not agrees(block("text", "a\n"), "a b\n")


@pytest.mark.parametrize("printed", ['{"a":[],"b":{"c":0.12345}}', "[1,null]", '"é"'])
def test_what_is_shown_agrees_with_what_was_printed(printed: str) -> None:
    assert agrees(block("json", shown("json", printed)), printed)


def test_long_objects_are_shown_in_lines() -> None:
    text = shown("json", '{"name":"%s","of":[1,2]}' % ("x" * 100))
    assert text.splitlines() == ["{", f'  "name": "{"x" * 100}",', '  "of": [1, 2]', "}"]


def _id(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=_id)
def test_every_block_is_run_or_says_why_not(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    answers = [answer for _, answer in steps(text) if answer]
    for each in blocks(text):
        if each.reason is None:
            assert each.kind in RUN or each in answers, each
        else:
            kind, beginning = REASONS[each.reason]
            assert each.kind == kind, each
            lines = each.text.replace("\\\n", " ").splitlines()
            assert all(re.match(beginning, line) for line in lines if line), each


def test_every_reason_is_needed() -> None:
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    assert {b.reason for text in texts for b in blocks(text) if b.reason} == set(REASONS)
