"""Gold sentences put back into the running text that they came from, to measure from raw text."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from service.errors import CorpusError
from service.text.conll import CONLLU_COLUMNS, TAG_COLUMN, Column, TaggedSentence, read_lines
from service.text.tokens import Offsets, offsets_of


@dataclass(frozen=True, slots=True)
class RawText:
    """A text with M gold words in S gold sentences.

    Attributes
    ----------
    text : the text.
    starts, ends : (M,) int64 code-point ranges of the words.
    sentence_offsets : (S + 1,) int64, as in `service.text.tokens.Tokens`.
    tags : the M gold tags.
    """

    text: str
    starts: Offsets
    ends: Offsets
    sentence_offsets: Offsets
    tags: list[str]


def read_raw_text(
    path: Path, column: Column, tagged: Iterable[TaggedSentence] | None = None
) -> RawText:
    """Read a CoNLL-U file as a text.

    The ``# text`` of the sentences is joined by one blank, or by nothing where the last token has
    ``SpaceAfter=No``; a blank line stands before ``# newpar`` and ``# newdoc``.

    Parameters
    ----------
    path : the file.
    column : which tags to take.
    tagged : takes the tags of sentences from here, by their words, each once and in order, and
        leaves out the sentences that are not there.

    Raises
    ------
    CorpusError
        Where the file cannot be read, or a sentence's words do not make up its text.
    """
    tags_of: dict[tuple[str, ...], deque[tuple[str, ...]]] = defaultdict(deque)
    for sentence in tagged or ():
        tags_of[sentence.words].append(sentence.tags)
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    lengths: list[int] = []
    tags: list[str] = []
    position = 0
    glued = True
    for number, comments, rows in _blocks(path):
        words = [row for row in rows if row[0].isdigit()]
        forms = tuple(row[1] for row in words)
        if tagged is None:
            own_tags = tuple(row[TAG_COLUMN[column]] for row in words)
        elif tags_of[forms]:
            own_tags = tags_of[forms].popleft()
        else:
            continue
        if parts:
            apart = any(c.startswith(("# newpar", "# newdoc")) for c in comments)
            parts.append("\n\n" if apart else "" if glued else " ")
            position += len(parts[-1])
        text = next((c.partition("= ")[2] for c in comments if c.startswith("# text =")), None)
        places = None if text is None else _places(text, forms)
        if text is None or places is None:
            raise CorpusError(path, number, "the words of the sentence do not make up its # text")
        starts += [position + place for place in places]
        ends += [position + place + len(form) for place, form in zip(places, forms, strict=True)]
        lengths.append(len(forms))
        tags += own_tags
        parts.append(text)
        position += len(text)
        glued = "SpaceAfter=No" in _last_surface_row(rows)[9]
    return RawText(
        "".join(parts),
        np.array(starts, dtype=np.int64),
        np.array(ends, dtype=np.int64),
        offsets_of(lengths),
        tags,
    )


def _blocks(path: Path) -> Iterator[tuple[int, list[str], list[list[str]]]]:
    """The sentences of a file: number of the line behind, comments, and rows of ten columns."""
    comments: list[str] = []
    rows: list[list[str]] = []
    for number, line in enumerate([*read_lines(path), ""], start=1):
        if line.startswith("#"):
            comments.append(line)
        elif line and not line.isspace():
            rows.append(line.split("\t"))
            if len(rows[-1]) != CONLLU_COLUMNS:
                raise CorpusError(path, number, f"expected 10 columns, found {len(rows[-1])}")
        else:
            if rows:
                yield number, comments, rows
            comments, rows = [], []


def _places(text: str, forms: Iterable[str]) -> list[int] | None:
    """Where each word begins; None where white space is not all that stands between them."""
    places = []
    end = 0
    for form in forms:
        place = text.find(form, end)
        if place < 0 or text[end:place].strip():
            return None
        places.append(place)
        end = place + len(form)
    return None if text[end:].strip() else places


def _last_surface_row(rows: list[list[str]]) -> list[str]:
    """The row of the last token: of a multiword token its range, not its last word."""
    covered_to = 0
    last = rows[0]
    for row in rows:
        if "-" in row[0]:
            covered_to = int(row[0].partition("-")[2])
            last = row
        elif row[0].isdigit() and int(row[0]) > covered_to:
            last = row
    return last
