"""Words and tags to columns: two of them, or the ten of CoNLL-U.

No word may hold a tab or a line break. A sentence without words leaves no trace.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from service.text.conll import CONLLU_COLUMNS, FORM_COLUMN, TAG_COLUMN
from service.text.tokens import Tokens

TagColumn = Literal["upos", "xpos", "misc"]

_HEAD_LINES = "# sent_id = {}\n# text = {}\n"
_MISC = CONLLU_COLUMNS - 1
# As UDPipe has it: https://ufal.mff.cuni.cz/udpipe/1/users-manual
_ESCAPES = str.maketrans(
    {" ": r"\s", "\t": r"\t", "\n": r"\n", "\r": r"\r", "|": r"\p", "\\": r"\\"}
)


def tab_separated(tokens: Tokens, tags: Sequence[str]) -> str:
    """Words and tags in two columns, a blank line after each sentence.

    Parameters
    ----------
    tokens : M words.
    tags : M tags.
    """
    return "".join(
        "".join([f"{tokens.words[i]}\t{tags[i]}\n" for i in range(first, end)]) + "\n"
        for first, end in _sentences(tokens)
    )


def conllu(tokens: Tokens, tags: Sequence[str], text: str | None, column: TagColumn) -> str:
    """CoNLL-U, https://universaldependencies.org/format.html.

    White space other than one blank stands in MISC as UDPipe writes it, `SpacesAfter` and
    `SpacesBefore`, so that the text can be made again. In ``# text`` it is one blank.

    Parameters
    ----------
    tokens : M words.
    tags : M tags.
    text : what the words come from; None where they came without, and then one blank parts them.
    column : where the tags go; in MISC, which is for BIO tags, as ``NE=``.
    """
    before, after = _spaces(tokens, text)
    parts = []
    for number, (first, end) in enumerate(_sentences(tokens), start=1):
        words, spaces = tokens.words[first:end], after[first:end]
        pairs = zip(words, spaces, strict=True)
        joined = "".join([f"{word} " if space else word for word, space in pairs])
        parts.append(_HEAD_LINES.format(number, joined.removesuffix(" ")))
        for i in range(first, end):
            misc = _space_attributes(before if i == 0 else "", after[i])
            parts.append(_row(i - first + 1, tokens.words[i], tags[i], column, misc))
        parts.append("\n")
    return "".join(parts)


def _sentences(tokens: Tokens) -> Iterator[tuple[int, int]]:
    bounds = pairwise(tokens.sentence_offsets.tolist())
    return ((first, end) for first, end in bounds if first < end)


def _spaces(tokens: Tokens, text: str | None) -> tuple[str, list[str]]:
    """The white space before the first word, and after each of the M."""
    if text is None or tokens.starts is None or tokens.ends is None or not tokens.words:
        return "", [" "] * len(tokens.words)
    starts = [*tokens.starts.tolist(), len(text)]
    ends = tokens.ends.tolist()
    return text[: starts[0]], [text[i:j] for i, j in zip(ends, starts[1:], strict=True)]


def _space_attributes(before: str, after: str) -> list[str]:
    attributes = [f"SpacesBefore={before.translate(_ESCAPES)}"] if before else []
    if not after:
        attributes.append("SpaceAfter=No")
    elif after != " ":
        attributes.append(f"SpacesAfter={after.translate(_ESCAPES)}")
    return attributes


def _row(number: int, word: str, tag: str, column: TagColumn, misc: list[str]) -> str:
    fields = ["_"] * CONLLU_COLUMNS
    fields[0], fields[FORM_COLUMN] = str(number), word
    if column == "misc":
        misc = [f"NE={tag}", *misc]
    else:
        fields[TAG_COLUMN[column]] = tag
    fields[_MISC] = "|".join(misc) or "_"
    return "\t".join(fields) + "\n"
