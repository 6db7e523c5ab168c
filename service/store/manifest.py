"""`manifest.json`: what a model is, what it was trained on, and the checksums of its files."""

import re
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

MODEL_NAME = re.compile(r"[a-z]{2,3}-[a-z]+-[a-z0-9]+(-[a-z0-9]+)*")
"""``<language>-<task>-<name>``, such as ``en-ner-crf``."""

ModelName = Annotated[str, StringConstraints(pattern=f"^{MODEL_NAME.pattern}$", max_length=100)]
FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,50}$")]
Version = Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+$")]
Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}$")]
Label = Annotated[str, StringConstraints(min_length=1, max_length=100)]

WEIGHTS_FILE = "weights.safetensors"
MANIFEST_FILE = "manifest.json"
MAX_MANIFEST_BYTES = 10_000_000


Split = Literal["dev", "test"]
Metric = Literal[
    "accuracy",
    "entity_f1",
    "word_f1",
    "sentence_f1",
    "tagged_word_f1",
    "token_ece",
    "span_ece",
]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Source(_Part):
    """A data set that the model was trained on."""

    name: str
    licence: str
    url: str | None = None
    files: tuple[str, ...] = Field((), strict=False)


def joined_sources(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Each source once, with all of its files."""
    joined: dict[str, Source] = {}
    for source in sources:
        known = joined.get(source.name, source)
        files = tuple(dict.fromkeys((*known.files, *source.files)))
        joined[source.name] = known.model_copy(update={"files": files})
    return tuple(joined.values())


class Score(_Part):
    """One measured figure. `value` is a share between 0 and 1; null where it is not defined."""

    data: str
    split: Split
    metric: Metric
    scheme: str
    value: float | None = Field(ge=0, le=1)


class TensorSpec(_Part):
    """Type and shape of one array in the weights file."""

    dtype: str
    shape: tuple[int, ...] = Field(strict=False)


class FileSpec(_Part):
    """One file of the model directory."""

    sha256: Sha256
    size_bytes: int = Field(ge=0)
    tensors: dict[str, TensorSpec] | None = None
    length: int | None = Field(None, ge=0, description="Entries of a vocabulary file.")


class Perplexity(_Part):
    """Of a language model: of each direction on held-out sentences, each read on its own."""

    words: int = Field(ge=0, description="How many the model had read.")
    forward: float = Field(ge=1)
    backward: float = Field(ge=1)


class LanguageModelInfo(_Part):
    """The language model within an ELMo: how well it foretells, and how the tagger mixes it."""

    version: Version
    description: str
    perplexities: tuple[Perplexity, ...] = Field(strict=False)
    layer_weights: tuple[float, ...] = Field(strict=False)
    layer_scale: float


class Manifest(_Part):
    """The manifest of a model directory; the reference is ``models/README.md``."""

    format: Literal[1]
    name: ModelName
    version: Version
    description: str
    language: Language
    task: Literal["tag", "ner"]
    tagset: Word | None = Field(
        description="Of a tagger of parts of speech: ptb, ud or another; null for ner."
    )
    architecture: Word
    labels: tuple[Label, ...] = Field(min_length=1, max_length=1000, strict=False)
    tokenizer: Word
    default: bool = Field(description="Whether it is the default of its task and tagset.")
    licence: str
    temperature: float = Field(
        1.0,
        ge=0.01,
        le=100.0,
        description="What scores are divided by before they are made probabilities.",
    )
    sources: tuple[Source, ...] = Field(strict=False)
    scores: tuple[Score, ...] = Field(strict=False)
    language_model: LanguageModelInfo | None = None
    files: dict[FileName, FileSpec]
