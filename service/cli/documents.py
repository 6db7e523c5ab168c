"""Files and standard input as documents: UTF-8, bounded, every character where it is."""

import re
import sys
from pathlib import Path

import click
import numpy as np

from service.errors import InputError, LimitExceeded
from service.text.tokens import Tokens, offsets_of

STDIN = Path("-")
_MOST_BYTES_A_CHAR = 4  # of UTF-8
_BYTE_ORDER_MARK = "\ufeff"
_WORD = re.compile(r"\S+")


def read_document(path: Path, max_text_chars: int) -> str:
    """The text of a file, or of standard input where `path` is ``-``.

    Line ends stay as they are. A byte order mark becomes a blank, so that no word begins with it
    and offsets are still those of the file.

    Raises
    ------
    InputError
        Where it cannot be read; is not UTF-8, and at which byte; or standard input is closed.
    LimitExceeded
        Where it is too long; not all of it is read.
    """
    name = "standard input" if path == STDIN else click.format_filename(path)
    most = _MOST_BYTES_A_CHAR * max_text_chars
    try:
        content = _read(path, most + 1)
    except OSError as error:  # of a read, which names no file
        raise InputError(f"{name}: {error.strerror}") from error
    if len(content) <= most:
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise InputError(f"{name}: not UTF-8 at byte {error.start}") from error
        if len(text) <= max_text_chars:
            return f" {text[1:]}" if text.startswith(_BYTE_ORDER_MARK) else text
    raise LimitExceeded(name, max_text_chars, "characters", "TRELLIS_MAX_TEXT_CHARS")


def split_lines(text: str) -> Tokens:
    """The words of a text that is split already: a sentence a line, white space between words."""
    words: list[re.Match[str]] = []
    lengths = []
    for line in re.finditer(r"[^\n]+", text):
        found = list(_WORD.finditer(text, *line.span()))
        words += found
        lengths += [len(found)] if found else []
    starts, ends = np.array([word.span() for word in words], dtype=np.int64).reshape(-1, 2).T
    return Tokens([word.group() for word in words], offsets_of(lengths), starts, ends)


def _read(path: Path, most: int) -> bytes:
    if path != STDIN:
        with path.open("rb") as file:
            return file.read(most)
    if sys.stdin is None:  # as `<&-` leaves it
        raise InputError("standard input is closed")
    if sys.stdin.isatty():
        click.echo("Type a text; Ctrl-D on a line of its own ends it.", err=True)
    return sys.stdin.buffer.read(most)
