"""Compiling lists of names for a model: read from files, tokenized as texts are, merged."""

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from service.errors import CorpusError
from service.text.tokenizer import Tokenizer

_MOST_TOKENS = 8
# What a company's name goes on with in a register, and seldom in a text.
_LEGAL_FORM_WORDS = (
    "inc inc. corp corp. co co. ltd ltd. llc plc l.p. lp n.v. nv s.a. sa ag group holdings"
    " company corporation incorporated limited trust , . & /de/ /md/ the"
)
_LEGAL_FORMS = frozenset(_LEGAL_FORM_WORDS.split(" "))


class NameList(BaseModel):
    """One ``[[gazetteers]]`` of a recipe: a file with names of one class."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(description="What the list is called in the model card.")
    licence: str
    url: str
    label: str = Field(pattern=r"^[a-z]+$", description="The class of the names, such as city.")
    file: str = Field(description="A path below the data directory.")
    format: Literal["csv", "json", "words"] = Field(
        description="CSV with a header; JSON objects in a list or in an object; or the first word "
        "of every line, written in capitals."
    )
    field: str = Field("", description="The column or key of the name.")
    most: int | None = Field(None, description="How many names to take, from the first.")

    def read(self, data: Path) -> list[str]:
        """The names, in the order of the file.

        Raises
        ------
        CorpusError
            Where the file cannot be read as its format says.
        """
        path = data / self.file
        try:
            return list(self._names(path))[: self.most]
        except OSError as error:
            raise CorpusError(path, None, error.strerror or str(error)) from error
        except (ValueError, KeyError, TypeError, csv.Error) as error:
            reason = f"no {self.format} with the field {self.field!r}: {type(error).__name__}"
            raise CorpusError(path, None, reason) from error

    def _names(self, path: Path) -> Iterator[str]:
        with path.open(encoding="utf-8", newline="") as file:
            if self.format == "csv":
                yield from (row[self.field] for row in csv.DictReader(file))
            elif self.format == "json":
                content = json.load(file)
                rows = content.values() if isinstance(content, dict) else content
                yield from (row[self.field] for row in rows)
            else:
                yield from (line.split()[0].title() for line in file if line.strip())


def common_words(sentences: Iterable[Sequence[str]]) -> frozenset[str]:
    """Words that stand in lower case more often than not, in lower case: no names by themselves."""
    counts = Counter(word for sentence in sentences for word in sentence)
    as_any: Counter[str] = Counter()
    for word, count in counts.items():
        as_any[word.lower()] += count
    return frozenset(word for word, count in as_any.items() if 2 * counts[word] > count)


def compile_gazetteers(
    lists: Sequence[NameList], data: Path, skip: frozenset[str]
) -> tuple[list[str], list[str], NDArray[np.int64]]:
    """Merge lists into what `service.text.gazetteers.Gazetteers` takes.

    Parameters
    ----------
    lists : the lists to read.
    data : the folder that their files lie in.
    skip : words, in lower case, that make no name by themselves.

    Returns
    -------
    classes, phrases (sorted), members (N,) as `Gazetteers` documents them.

    Raises
    ------
    CorpusError
    """
    tokenizer = Tokenizer()
    classes = sorted({names.label for names in lists})
    members: dict[str, int] = defaultdict(int)
    for names in lists:
        bit = 1 << classes.index(names.label)
        for name in names.read(data):
            words = tokenizer.tokenize(name).words
            for form in (words, _without_legal_form(words)):
                telling = any(len(w) > 2 and w.lower() not in skip for w in form)
                if telling and len(form) <= _MOST_TOKENS:
                    members[" ".join(form)] |= bit
    phrases = sorted(members)
    return classes, phrases, np.array([members[phrase] for phrase in phrases], dtype=np.int64)


def _without_legal_form(words: Sequence[str]) -> Sequence[str]:
    end = len(words)
    while end and words[end - 1].lower() in _LEGAL_FORMS:
        end -= 1
    return words[:end]
