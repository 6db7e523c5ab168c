"""What requests may hold. Strict: a wrong type or an unknown field is an error."""

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Literal, Self, TypeVar, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SkipValidation,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from service.decoding import ANY_LABEL, Mode
from service.errors import InputError

Tagset = Literal["ptb", "ud"]
TAGSETS = get_args(Tagset)
OffsetUnit = Literal["codepoint", "utf16", "utf8"]
# One wrong word is enough: a body can hold millions, and each error costs memory.
Words = Annotated[list[str], Field(fail_fast=True)]
Sentences = Annotated[list[Words], Field(fail_fast=True)]
Place = Annotated[int, Field(ge=0, lt=2**53)]

_LONGEST_NAME_SHOWN = 100  # a longer one would be the request, quoted


class Strict(BaseModel):
    """What forbids unknown fields and other types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Document(Strict):
    """A document: exactly one of `text` and `tokens`."""

    text: str | None = Field(None, description="The text; the service splits it into tokens.")
    tokens: Sentences | None = Field(
        None, description="Sentences of words, taken as they are. No word may be blank."
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if (self.text is None) == (self.tokens is None):
            raise PydanticCustomError("text_or_tokens", "Give exactly one of text and tokens")
        return self


class Constraint(Strict):
    """What is known of a range of a document, in characters or in tokens, both half-open."""

    start: Place | None = Field(
        None, description="In the offset unit; where a token starts. Only of a text."
    )
    end: Place | None = Field(None, description="In the offset unit; where a token ends.")
    token_start: Place | None = Field(None, description="Counted from the document's first token.")
    token_end: Place | None = None
    label: str = Field(description='Of a span; `"*"` is any, where it is forbidden.')
    mode: Mode = Field(
        description="span: the range is exactly one span of the label. inside: it lies inside some "
        "span of the label, or is one. forbid: no token of it is in a span of the label."
    )

    @model_validator(mode="after")
    def _one_range(self) -> Self:
        ranges = [(self.start, self.end), (self.token_start, self.token_end)]
        given = [each for each in ranges if each != (None, None)]
        if len(given) != 1 or None in given[0]:
            raise PydanticCustomError(
                "one_range", "Give exactly one of start and end, and token_start and token_end"
            )
        if self.label == ANY_LABEL and self.mode != "forbid":
            raise PydanticCustomError("any_label", "Any label can be forbidden, and no more")
        return self


class ConstrainedDocument(Document):
    """A document, and what is known of its spans."""

    constraints: list[Constraint] | None = Field(
        None,
        max_length=1000,
        description="What is known of the spans: the tags are the best among those that agree.",
    )


class DictionaryEntry(Strict):
    """A phrase that is likely a span of a label, or with a negative weight unlikely one."""

    phrase: str = Field(
        max_length=100, description="Split into tokens as texts are, and matched over tokens."
    )
    label: str
    weight: float = Field(
        ge=-1000,
        le=1000,
        description="What each token of a match gains in such a span, in units of the log-odds.",
    )
    match_case: bool | None = Field(
        None, description="Whether case has to match; false is the default."
    )


class Options(Strict):
    """What every request may ask for."""

    model: str | None = Field(
        None, description="Name of the model; else the default of the task and tagset."
    )
    offset_unit: OffsetUnit | None = Field(
        None, description="What start and end count; codepoint is the default."
    )
    sentences: bool | None = Field(
        None, description="false takes a document as one sentence; true is the default."
    )
    confidence: bool | None = Field(
        None, description="Whether tokens and spans have their `confidence`."
    )
    marginals: bool | None = Field(
        None,
        description="Whether tokens have their `marginals`. The documents of the request may have "
        "10,000 tokens together (`TRELLIS_MAX_ANALYSED_TOKENS`).",
    )
    n_best: int | None = Field(
        None,
        ge=1,
        le=20,
        description="How many of its best tag sequences a sentence has as `n_best`. The documents "
        "of the request may have 10,000 tokens together (`TRELLIS_MAX_ANALYSED_TOKENS`).",
    )
    explain: bool | None = Field(
        None,
        description="Whether documents have their `explanation`. They may have 200 tokens together "
        "(`TRELLIS_MAX_EXPLAINED_TOKENS`).",
    )


class TagOptions(Options):
    """What a request for parts of speech may ask for."""

    tagset: Tagset | None = Field(
        None,
        description="Picks the default model: ptb, which is the default, has Penn tags, "
        "ud Universal tags. It maps nothing.",
    )


class NerOptions(Options):
    """What a request for named entities may ask for."""

    labels: Words | None = Field(
        None, description="Keeps only the spans of these labels; tokens keep their tags."
    )
    threshold: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Keeps only the spans whose confidence is at least this; tokens keep their "
        "tags.",
    )
    dictionary: list[DictionaryEntry] | None = Field(
        None,
        max_length=1000,
        description="Phrases whose matches add their weight to the scores of their spans, as those "
        "of a gazetteer do. The longest match at a token counts; matches do not overlap.",
    )


class TagRequest(Document, TagOptions):
    """One document to tag with parts of speech."""


class NerRequest(ConstrainedDocument, NerOptions):
    """One document to find named entities in."""


class TagBatchRequest(TagOptions):
    """Documents to tag with parts of speech."""

    # Each is validated alone, so that a bad one does not harm the others.
    documents: list[SkipValidation[Document]]


class NerBatchRequest(NerOptions):
    """Documents to find named entities in."""

    documents: list[SkipValidation[ConstrainedDocument]]


R = TypeVar("R", bound=Strict)


def validated(schema: type[R], value: object) -> R:
    """The request that `value`, parsed JSON, holds.

    Raises
    ------
    InputError
        Names the first place that is wrong; never quotes the value there.
    """
    if not isinstance(value, dict):
        raise InputError("Input should be a JSON object")
    # Pydantic forbids unknown fields too, but would list every one of a million.
    fields = _field_names(schema)
    if not value.keys() <= fields:
        unknown = next(name for name in value if name not in fields)
        known = len(unknown) <= _LONGEST_NAME_SHOWN
        raise InputError("There is no such field", json_pointer([unknown] if known else []))
    try:
        # What `model_validate` calls, in half its time.
        request: R = schema.__pydantic_validator__.validate_python(value)
        return request
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise InputError(first["msg"], json_pointer(first["loc"])) from None


@cache
def _field_names(schema: type[Strict]) -> frozenset[str]:
    return frozenset(schema.model_fields)


def json_pointer(path: Sequence[str | int]) -> str:
    """JSON pointer (RFC 6901) of a path: ``["documents", 3, "text"]`` to ``/documents/3/text``."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
