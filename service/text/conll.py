"""Columns: CoNLL-U, and two columns of words and tags; the files of a corpus, and what is sent.

Lines end at a line feed (a carriage return before it is dropped) and at nothing else: a word may
hold U+0085 or U+2028, which `str.splitlines` would take for the end of a line.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from service.errors import CorpusError

Column = Literal["upos", "xpos"]

CONLLU_COLUMNS = 10
FORM_COLUMN = 1
TAG_COLUMN = {"upos": 3, "xpos": 4}


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """Words and their tags, equally many and at least one."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


def read_columns(path: Path) -> list[TaggedSentence]:
    """Read a file of two or more columns, a token a line and a blank line after a sentence.

    The first column is the word and the last one its tag; tabs separate them, or single blanks
    in a line without a tab. A word ``-DOCSTART-``, as CoNLL-2003 has it, is none.

    Raises
    ------
    CorpusError
        Names the line that is malformed, or the file that cannot be read.
    """
    return list(_sentences(path, read_lines(path), _row_of_columns))


def read_conllu(path: Path, column: Column) -> list[TaggedSentence]:
    """Read words and tags of a CoNLL-U file: the lines whose ID is an integer.

    Parameters
    ----------
    path : the file.
    column : which tag to read, ``upos`` (column 4) or ``xpos`` (column 5).

    Raises
    ------
    CorpusError
        Names the line that is malformed, or the file that cannot be read.
    """
    row_of = partial(_row_of_conllu, TAG_COLUMN[column])
    return list(_sentences(path, read_lines(path), row_of))


def words_of_columns(content: bytes) -> list[tuple[str, ...]]:
    """The sentences of words that stand in the first of tab-separated columns.

    Raises
    ------
    CorpusError
        Names the line that is malformed.
    """
    return _words(content, _row_of_word)


def words_of_conllu(content: bytes) -> list[tuple[str, ...]]:
    """The sentences of words of a CoNLL-U document: the lines whose ID is an integer.

    Raises
    ------
    CorpusError
        Names the line that is malformed.
    """
    return _words(content, partial(_row_of_conllu, FORM_COLUMN))


Row = tuple[str, str]  # a word and its tag
_BODY = "the body"  # of a request, which has no name
_DOCUMENT = "-DOCSTART-"  # CoNLL-2003 has such a line before each document, which is no word of it


def _row_of_columns(line: str) -> Row | None:
    fields = line.split("\t" if "\t" in line else " ")
    if len(fields) < 2:
        raise ValueError("expected a word and a tag, separated by a tab")
    return (fields[0], fields[-1]) if fields[0] != _DOCUMENT else None


def _row_of_word(line: str) -> Row:
    word = line.partition("\t")[0]
    return word, word


def _row_of_conllu(column: int, line: str) -> Row | None:
    if line.startswith("#"):
        return None
    fields = line.split("\t")
    if len(fields) != CONLLU_COLUMNS:
        raise ValueError(f"expected {CONLLU_COLUMNS} columns, found {len(fields)}")
    return (fields[1], fields[column]) if fields[0].isdigit() else None


def _words(content: bytes, row_of: Callable[[str], Row | None]) -> list[tuple[str, ...]]:
    lines = _lines(_BODY, content)
    return [sentence.words for sentence in _sentences(_BODY, lines, row_of)]


def _sentences(
    file: object, lines: Sequence[str], row_of: Callable[[str], Row | None]
) -> Iterator[TaggedSentence]:
    rows: list[Row] = []
    for number, line in enumerate(lines, start=1):
        if not line or line.isspace():
            yield from _pack(rows)
            rows = []
            continue
        try:
            row = row_of(line)
        except ValueError as error:
            raise CorpusError(file, number, str(error)) from error
        if row is not None:
            if not row[0] or row[0].isspace() or not row[1]:
                raise CorpusError(file, number, "the word or the tag is empty")
            rows.append(row)
    yield from _pack(rows)


def read_lines(path: Path) -> list[str]:
    """Read the lines of a corpus file, without their ends.

    Raises
    ------
    CorpusError
        Where the file cannot be read or is not UTF-8.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CorpusError(path, None, error.strerror or str(error)) from error
    return _lines(path, content)


def _lines(file: object, content: bytes) -> list[str]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise CorpusError(file, line, "not valid UTF-8") from error
    return [line.removesuffix("\r") for line in text.split("\n")]


def _pack(rows: list[Row]) -> Iterator[TaggedSentence]:
    if rows:
        words, tags = zip(*rows, strict=True)
        yield TaggedSentence(words, tags)
