"""A recipe of a language model: the texts that it reads, in TOML."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from service.store.manifest import Language, Version
from service.training.recipe import Text, WordVectors, validated


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ReadText(Text):
    """Text that a language model reads."""

    share: float = Field(
        1.0, gt=0, le=10, description="How often a sentence is read in a pass, on the average."
    )


class LanguageModelOptions(_Part):
    """The ``[options]`` of a language model."""

    tokens: int = Field(ge=1, description="How many to read, again and again if need be.")
    hidden: int = Field(256, ge=1, description="Width of a direction's layers.")
    layers: int = Field(2, ge=1, description="LSTMs of a direction.")
    case_width: int = Field(10, ge=1, description="Width of the vectors of kinds of case.")
    character_width: int = Field(25, ge=1, description="Width of the vectors of characters.")
    character_hidden: int = Field(
        25, ge=0, description="Width of the character biLSTM, a direction; 0 leaves it out."
    )
    word_width: int = Field(
        100, ge=1, description="Width of word vectors where none are pretrained."
    )
    words: int = Field(60_000, ge=0, description="Word vectors at most.")
    text_words: int = Field(
        40_000, ge=0, description="How many of them are the most frequent of the texts."
    )
    targets: int = Field(
        20_000, ge=1, description="Words that are foretold; of the others, only the case is."
    )
    cutoffs: tuple[int, ...] = Field(
        (1_000, 4_000), description="Of the adaptive softmax: where its clusters begin."
    )
    recased_share: float = Field(
        0.0, ge=0, le=1, description="Share of the sentences read in lower or upper case."
    )
    streams: int = Field(32, ge=1, description="Streams that are read side by side.")
    steps: int = Field(32, ge=1, description="Words of a stream that an error goes back through.")
    learning_rate: float = Field(2e-3, gt=0, description="The highest of the schedule.")
    clip: float = Field(1.0, gt=0, description="Longest gradient.")
    held_out: int = Field(2_000, ge=1, description="Sentences that are kept to measure on.")
    measurements: int = Field(20, ge=1, description="How often that is.")
    threads: int = Field(1, ge=1, description="Threads of PyTorch; another number, other bytes.")


class LanguageModelRecipe(_Part):
    """The recipe of a language model; the reference is ``models/README.md``."""

    version: Version
    description: str
    language: Language
    licence: str
    seed: int = 0
    options: LanguageModelOptions
    texts: tuple[ReadText, ...] = Field(min_length=1)
    vectors: WordVectors | None = None


def read_language_model_recipe(path: Path) -> LanguageModelRecipe:
    """Read a recipe file.

    Raises
    ------
    RecipeError
        Where it cannot be read or asks for something that cannot be.
    """
    return validated(path, LanguageModelRecipe)
