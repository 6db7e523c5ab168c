"""A recipe: what a model is made from, in TOML, so that one command makes it again."""

import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from service.errors import RecipeError
from service.store.manifest import ModelName
from service.text.conll import TaggedSentence, read_columns, read_conllu

RECIPE_FILE = "recipe.toml"


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


class Recipe(_Part):
    """The recipe of a model; the reference is ``models/README.md``.

    A model is estimated from `corpora`, or, for teaching, written down as `tables`.
    """

    name: ModelName
    version: str
    description: str
    language: str
    task: Literal["tag", "ner"]
    tagset: str | None = None
    architecture: str
    default: bool = False
    licence: str
    seed: int = 0
    options: dict[str, Any] = {}
    corpora: tuple[Corpus, ...] = ()
    tables: dict[str, Any] | None = None

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
    try:
        return Recipe.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise RecipeError(f"{path}: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RecipeError(f"{path}: {error}") from error
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise RecipeError(f"{path}: {place}: {first['msg']}".replace(": :", ":")) from error
