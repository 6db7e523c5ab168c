"""What answers hold: for the OpenAPI document and the tests. No answer is validated at run time.

Fields are only added within a major version, so these do not forbid unknown ones.
"""

from typing import Literal

from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema

from service.api.schemas import OffsetUnit
from service.store.manifest import Score, Source

_CONFIDENCE = "Present only if asked for; null where the model is no probability model."
_ONLY_IF_TRUE = "Present only where the sentence is a piece of one over the limit of tokens."


class Problem(BaseModel):
    """An error, as RFC 9457 has it."""

    type: str = Field(description="Stable URI of the kind of problem.")
    title: str
    status: int
    detail: str
    pointer: str | SkipJsonSchema[None] = Field(
        None, description="JSON pointer to the place in the request; empty is the whole."
    )
    limit: int | SkipJsonSchema[None] = Field(None, description="The largest number allowed.")
    known: list[str] | SkipJsonSchema[None] = Field(
        None, description="The models, or labels, that there are."
    )
    allowed: list[str] | SkipJsonSchema[None] = Field(
        None, description="The methods, media types or encodings that are accepted."
    )
    setting: str | SkipJsonSchema[None] = Field(
        None, description="The setting of the service that decides."
    )
    version: str | SkipJsonSchema[None] = Field(None, description="Of `/health` only.")
    models: "list[ModelState] | SkipJsonSchema[None]" = Field(
        None, description="Of `/health` only."
    )


class ModelName(BaseModel):
    """The model that answered."""

    name: str
    version: str


class ModelState(ModelName):
    """A model, and whether it is loaded."""

    loaded: bool


class _Range(BaseModel):
    start: int | None = Field(description="Null where the document came as tokens.")
    end: int | None


class Sentence(_Range):
    """A sentence: its place in the text, and its tokens."""

    token_start: int
    token_end: int
    split: Literal[True] | SkipJsonSchema[None] = Field(None, description=_ONLY_IF_TRUE)
    n_best: "list[TagSequence] | SkipJsonSchema[None]" = Field(
        None,
        description="Present only if asked for: the best different tag sequences, the first of "
        "which the tokens bear; fewer where the sentence has fewer.",
    )


class Token(_Range):
    """A token and its tag; the tag of a recogniser is a BIO tag."""

    text: str
    tag: str
    confidence: float | None = Field(
        None, ge=0, le=1, description=f"The probability of the tag. {_CONFIDENCE}"
    )
    marginals: dict[str, float] | None = Field(
        None, description=f"The probabilities of all labels. {_CONFIDENCE}"
    )


class Span(_Range):
    """A named entity. Token ranges count from the document's first token."""

    label: str
    text: str
    token_start: int
    token_end: int
    confidence: float | None = Field(
        None,
        ge=0,
        le=1,
        description=f"The probability of a span of this label and these bounds. {_CONFIDENCE}",
    )


class TagSequence(BaseModel):
    """One of the best tag sequences of a sentence."""

    log_prob: float | None = Field(
        le=0,
        description="Log of its probability; null where the model is no probability model.",
    )
    tags: list[str]
    spans: list[Span] | SkipJsonSchema[None] = Field(None, description="Of `/ner` only.")


class TagDocument(BaseModel):
    """A document tagged with parts of speech."""

    sentences: list[Sentence]
    tokens: list[Token]


class NerDocument(TagDocument):
    """A document with its named entities."""

    spans: list[Span]


class FailedDocument(BaseModel):
    """A document of a batch that could not be tagged."""

    error: Problem


class _Answer(BaseModel):
    model: ModelName
    offset_unit: OffsetUnit


class TagAnswer(TagDocument, _Answer):
    """The answer of `/tag`."""


class NerAnswer(NerDocument, _Answer):
    """The answer of `/ner`."""


class TagBatchAnswer(_Answer):
    """The answer of `/tag/batch`."""

    documents: list[TagDocument | FailedDocument]


class NerBatchAnswer(_Answer):
    """The answer of `/ner/batch`."""

    documents: list[NerDocument | FailedDocument]


class ModelDescription(ModelState):
    """What a model is, what it was trained on and how well it does."""

    description: str
    language: str
    task: Literal["tag", "ner"]
    tagset: str | None
    architecture: str
    labels: list[str]
    licence: str
    sources: list[Source]
    scores: list[Score]
    default: bool = Field(description="Whether a request that names no model gets this one.")


class ModelsAnswer(BaseModel):
    """The answer of `/models`."""

    models: list[ModelDescription]


class StatusAnswer(BaseModel):
    """The answer of `/livez` and `/readyz`."""

    status: Literal["ok"]


class HealthAnswer(StatusAnswer):
    """The answer of `/health`."""

    version: str
    models: list[ModelState]


class VersionAnswer(BaseModel):
    """The answer of `/version`."""

    name: str
    version: str
    python: str
