"""Analysis for personal data as Presidio's analyzer has it: persons, locations, organizations.

https://microsoft.github.io/presidio/api-docs/api-docs.html
"""

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    Field,
    RootModel,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from service.api.annotator import Annotator
from service.api.answers import Json
from service.api.problems import INVALID_REQUEST, Problem
from service.api.schemas import Document, NerOptions, Strict, Words
from service.api.selection import Selection, select_recogniser, span_labels
from service.errors import InputError, LimitExceeded
from service.store.registry import Registry
from service.text.tokenizer import Tokenizer

_ENTITIES = {"PER": "PERSON", "LOC": "LOCATION", "ORG": "ORGANIZATION"}
_IGNORED = "Changes nothing."


def _text_or_texts(value: object, validate: ValidatorFunctionWrapHandler) -> object:
    try:
        return validate(value)
    except ValidationError:  # would name each of the two as a place in the request
        message = "Input should be a valid string, or a list of them"
        raise PydanticCustomError("text_or_texts", message) from None


class AnalyzeRequest(Strict):
    """A text, or texts, to find entities in; what asks for more than the model knows is refused."""

    text: Annotated[str | Words, WrapValidator(_text_or_texts)]
    language: str = Field(description="The language of the default model, such as en.")
    entities: Words | None = Field(
        None,
        description="These only; none are all. Those that the model does not know are left out, "
        "as long as it knows one.",
    )
    score_threshold: float | None = Field(
        None, ge=0, le=1, description="Entities of this confidence at least."
    )
    allow_list: Words | None = Field(None, description="Texts that are no entities.")
    allow_list_match: Literal["exact"] | None = None
    ad_hoc_recognizers: Annotated[list[Any], Field(max_length=0)] | None = Field(
        None, description="There can be none: only the model recognizes."
    )
    return_decision_process: bool | None = Field(
        None, description="Changes nothing: `analysis_explanation` is null."
    )
    correlation_id: str | None = Field(None, description=_IGNORED)
    context: Words | None = Field(None, description=_IGNORED)
    regex_flags: int | None = Field(None, description=_IGNORED)
    trace: bool | None = Field(None, description=_IGNORED)


class RecognizerResult(BaseModel):
    """An entity; its score is its confidence."""

    entity_type: str
    start: int
    end: int
    score: float | None
    analysis_explanation: None


class AnalyzeAnswer(RootModel[list[RecognizerResult] | list[list[RecognizerResult]]]):
    """The answer of `/compat/presidio/analyze`: a list, or for a list of texts a list of these."""


def analyze(
    request: AnalyzeRequest, registry: Registry, annotator: Annotator
) -> list[Json] | list[list[Json]]:
    """The entities of a text, or of each of many, by the default model.

    Raises
    ------
    InputError
        Where a text is too long, there are too many, or the model knows neither the language nor
        one of the entities.
    """
    selection = _selection(request, registry, annotator.tokenizer)
    allowed = frozenset(request.allow_list or ())
    if isinstance(request.text, str):
        return _results(request.text, "/text", allowed, selection, annotator)
    limit = annotator.settings.max_documents
    if len(request.text) > limit:
        raise LimitExceeded("the batch", limit, "texts", "TRELLIS_MAX_DOCUMENTS", "/text")
    with annotator.admission.place():
        return [
            _results(text, f"/text/{index}", allowed, selection, annotator)
            for index, text in enumerate(request.text)
        ]


def _selection(request: AnalyzeRequest, registry: Registry, tokenizer: Tokenizer) -> Selection:
    model = select_recogniser(registry, NerOptions(), tokenizer).model
    language = model.manifest.language
    if request.language != language:
        detail = f"the model {model.manifest.name} is of the language {language}"
        raise Problem(INVALID_REQUEST, detail, pointer="/language", known=[language])
    known = {_ENTITIES.get(label, label): label for label in span_labels(model.tagger.labels)}
    labels = [known[name] for name in request.entities or known if name in known]
    if not labels:
        detail = f"the model {model.manifest.name} knows none of these; it has {', '.join(known)}"
        raise Problem(INVALID_REQUEST, detail, pointer="/entities", known=list(known))
    options = NerOptions(labels=labels, threshold=request.score_threshold, confidence=True)
    try:
        return select_recogniser(registry, options, tokenizer)
    except InputError as error:
        error.pointer = "/score_threshold"
        raise


def _results(
    text: str, pointer: str, allowed: frozenset[str], selection: Selection, annotator: Annotator
) -> list[Json]:
    try:
        answer: dict[str, Any] = annotator.answer(Document(text=text), selection)
    except InputError as error:
        error.pointer = pointer
        raise
    return [
        {
            "entity_type": _ENTITIES.get(span["label"], span["label"]),
            "start": span["start"],
            "end": span["end"],
            "score": span["confidence"],
            "analysis_explanation": None,
        }
        for span in answer["spans"]
        if span["text"] not in allowed
    ]
