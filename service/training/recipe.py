"""A recipe: what a model is made from, in TOML, so that one command makes it again."""

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from service.errors import RecipeError, first_fault
from service.store.manifest import Language, ModelName, Source, Version, Word
from service.text.conll import TaggedSentence, read_columns, read_conllu
from service.training.gazetteers import NameList
from service.training.raw_text import RawText, read_raw_text
from service.training.text_corpus import TextFormat, read_sentences

RECIPE_FILE = "recipe.toml"

RecipeKind = TypeVar("RecipeKind", bound=BaseModel)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Corpus(_Part):
    """A data set: where it comes from, and which of its files serve what.

    Files are paths below the data directory.
    """

    name: str
    licence: str
    url: str
    format: Literal["columns", "upos", "xpos"] = Field(
        description="Two columns of word and tag, or the tags of that CoNLL-U column."
    )
    train: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    raw_dev: tuple[str, ...] = Field(
        (), description="Of columns: CoNLL-U files that have the texts of the dev sentences."
    )
    raw_test: tuple[str, ...] = Field((), description="The same of the test sentences.")

    def read(self, data: Path, split: Literal["train", "dev", "test"]) -> list[TaggedSentence]:
        """Read the files of a split, in order.

        Raises
        ------
        CorpusError
        """
        files: tuple[str, ...] = getattr(self, split)
        if self.format == "columns":
            return [s for file in files for s in read_columns(data / file)]
        return [s for file in files for s in read_conllu(data / file, self.format)]

    def read_raw(self, data: Path, split: Literal["dev", "test"]) -> list[RawText]:
        """Read the files of a split as raw texts; none where the corpus has no texts.

        Raises
        ------
        CorpusError
        """
        if self.format != "columns":
            files: tuple[str, ...] = getattr(self, split)
            return [read_raw_text(data / file, self.format) for file in files]
        files = getattr(self, f"raw_{split}")
        sentences = self.read(data, split) if files else []
        return [read_raw_text(data / file, "xpos", sentences) for file in files]


class WordVectors(_Part):
    """Word vectors: a CRF clusters words by them, see `service.training.clusters`; a biLSTM-CRF
    begins with them, and its option ``words`` says how many it takes."""

    name: str
    licence: str
    url: str
    file: str
    most: int = Field(100_000, ge=1, description="How many words to take, the frequent first.")
    grains: tuple[Annotated[int, Field(ge=2, le=30_000)], ...] = Field(
        (), description="Of a CRF, which needs them: how many clusters, at each grain."
    )


class Text(_Part):
    """Text, whose labels, if it has some, are not read."""

    name: str
    licence: str
    url: str | None = None
    files: tuple[str, ...] = Field(min_length=1)
    format: TextFormat = "text"

    @property
    def source(self) -> Source:
        """What the manifest says of it."""
        return Source(name=self.name, licence=self.licence, url=self.url, files=self.files)


class TaughtText(Text):
    """Text that the teacher of a CRF tags: see `service.training.tagged_texts`."""

    every: int = Field(
        0, ge=0, description="One sentence in so many is a training sentence too; 0 is none."
    )

    def sentences(self, data: Path) -> Iterator[Sequence[str]]:
        """The words of each sentence of all files.

        Raises
        ------
        CorpusError
            Where a file cannot be read, when it comes to it.
        """
        for file in self.files:
            yield from read_sentences(self.format, data / file)


class LanguageModelInput(_Part):
    """A language model that `trellis pretrain` made."""

    directory: str = Field(description="Its directory, below the data directory.")


class Recipe(_Part):
    """The recipe of a model; the reference is ``models/README.md``.

    A model is estimated from `corpora`, or, for teaching, written down as `tables`.
    """

    name: ModelName
    version: Version
    description: str
    language: Language
    task: Literal["tag", "ner"]
    tagset: Word | None = None
    architecture: Word
    default: bool = False
    licence: str
    seed: int = 0
    options: dict[str, Any] = {}
    corpora: tuple[Corpus, ...] = ()
    vectors: WordVectors | None = None
    gazetteers: tuple[NameList, ...] = ()
    language_model: LanguageModelInput | None = None
    teachers: tuple[str, ...] = Field(
        (), description="Directories of models, below the data directory."
    )
    texts: tuple[TaughtText, ...] = Field((), description="Of a CRF: what its teacher tags.")
    tables: dict[str, Any] | None = None

    @property
    def lexicon_files(self) -> tuple[WordVectors | NameList, ...]:
        """The files that tell of words without a sentence."""
        vectors = () if self.vectors is None else (self.vectors,)
        return (*vectors, *self.gazetteers)

    @model_validator(mode="after")
    def _has_one_origin(self) -> "Recipe":
        if (self.tables is None) == (not any(corpus.train for corpus in self.corpora)):
            raise ValueError("needs corpora with train files, or tables, and not both")
        if (self.task == "tag") != (self.tagset is not None):
            raise ValueError("a tagset belongs to the task tag, and only to it")
        return self


def read_recipe(path: Path) -> Recipe:
    """Read a recipe file.

    Raises
    ------
    RecipeError
        Where it cannot be read or asks for something that cannot be.
    """
    return validated(path, Recipe)


def validated(path: Path, kind: type[RecipeKind]) -> RecipeKind:
    """Read a recipe file of any kind.

    Raises
    ------
    RecipeError
        Where it cannot be read or asks for something that cannot be.
    """
    try:
        return kind.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise RecipeError(f"{path}: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RecipeError(f"{path}: {error}") from error
    except ValidationError as error:
        raise RecipeError(f"{path}: {first_fault(error)}") from error
