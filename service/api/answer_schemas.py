"""What answers hold: for the OpenAPI document and the tests. No answer is validated at run time.

Fields are only added within a major version, so these do not forbid unknown ones.
"""

from typing import Literal

from pydantic import BaseModel, Field, RootModel
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


class FiredFeature(BaseModel):
    """A feature that a token has, and what it adds to the score of a tag."""

    feature: str = Field(
        description="`<offset>:<kind>=<value>`: what is seen of the word that stands so far from "
        "the token; `request` is what the request itself adds."
    )
    weight: float | None


class Candidate(BaseModel):
    """A tag that a token may have, and what speaks for it."""

    tag: str
    transition: float | None = Field(
        description="Score of coming from the best path's tag before, or of beginning with it."
    )
    emission: float | None
    features: list[FiredFeature] = Field(
        description="The heaviest first; their weights add up to the emission."
    )


class TokenExplanation(BaseModel):
    """A token's tag, and of the others the most probable."""

    best: Candidate
    runner_up: Candidate | None


class SentenceTrellis(BaseModel):
    """The trellis of a sentence of T tokens: a row of K numbers a token, a column a tag."""

    score: float = Field(description="Of the best path, with `end`.")
    best_path: list[int] = Field(description="Indexes into `tags`, a token each.")
    overruled: list[int] = Field(
        description="Rows in which the best path's cell is not the best of its row."
    )
    emissions: list[list[float | None]] = Field(description="Score of the tag at the token.")
    cells: list[list[float | None]] = Field(
        description="Score of the best path that comes to the tag at the token."
    )
    back_pointers: list[list[int | None]] = Field(
        description="The tag before on that path; null in the first row and where no path leads."
    )


class Explanation(BaseModel):
    """Why the tokens have their tags. Scores have six decimals; null is minus infinity."""

    tags: list[str] = Field(description="The K tags.")
    start: list[float | None] | None = Field(
        description="Score of beginning with a tag. This and `transitions` and `end` are null "
        "where the model distinguishes more states than tags."
    )
    transitions: list[list[float | None]] | None = Field(
        description="`transitions[i][j]` goes from tag i to tag j."
    )
    end: list[float | None] | None = Field(description="Score of ending with a tag.")
    sentences: list[SentenceTrellis]
    tokens: list[TokenExplanation] | None = Field(
        description="A CRF's features; null of models that have none."
    )


class TagDocument(BaseModel):
    """A document tagged with parts of speech."""

    sentences: list[Sentence]
    tokens: list[Token]
    explanation: Explanation | SkipJsonSchema[None] = Field(
        None, description="Present only if asked for."
    )


class NerDocument(TagDocument):
    """A document with its named entities."""

    spans: list[Span]


class FailedDocument(BaseModel):
    """A document of a batch that could not be tagged."""

    error: Problem


class StreamError(FailedDocument):
    """A line of a stream that could not be answered; without an index it ends the stream."""

    index: int | SkipJsonSchema[None] = Field(
        None, description="Of the document, from 0; blank lines do not count."
    )


class _Answer(BaseModel):
    model: ModelName
    offset_unit: OffsetUnit


class TagAnswer(TagDocument, _Answer):
    """The answer of `/tag`."""


class NerAnswer(NerDocument, _Answer):
    """The answer of `/ner`."""


class TagLine(RootModel[TagAnswer | StreamError]):
    """A line of the stream of `/tag/batch`."""


class NerLine(RootModel[NerAnswer | StreamError]):
    """A line of the stream of `/ner/batch`."""


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
