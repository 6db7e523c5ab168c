"""Token classification as Hugging Face's inference API has it, for its `InferenceClient`.

https://huggingface.co/docs/inference-providers/tasks/token-classification
"""

from typing import Any, Literal

from pydantic import BaseModel, Field, RootModel

from service.api.annotator import Annotator
from service.api.answers import Json
from service.api.schemas import Document, NerOptions, Strict, Words
from service.api.selection import select_recogniser
from service.errors import InputError
from service.store.registry import Registry

_OUTSIDE = ("O",)


class Parameters(Strict):
    """How the entities are shown."""

    aggregation_strategy: Literal["none", "simple", "first", "average", "max"] | None = Field(
        None,
        description="none gives tokens with their BIO tags. All others give entities, and the "
        "same ones: they differ for pieces of words, and here whole words are tagged.",
    )
    ignore_labels: Words | None = Field(
        None,
        description="Entities of these labels are left out, for none tokens of these tags; "
        "without it those of the tag O.",
    )
    stride: int | None = Field(
        None, ge=0, description="Changes nothing: no text is cut into windows that overlap."
    )


class TokenClassificationRequest(Strict):
    """A text to find entities in."""

    inputs: str
    parameters: Parameters | None = None


class _Part(BaseModel):
    score: float | None
    word: str
    start: int
    end: int


class Entity(_Part):
    """An entity; its score is its confidence."""

    entity_group: str


class TaggedToken(_Part):
    """A token, for the aggregation strategy none."""

    entity: str
    index: int = Field(description="Of the token, from 1.")


class TokenClassificationAnswer(RootModel[list[Entity | TaggedToken]]):
    """The answer of `/compat/huggingface`."""


def classify_tokens(
    request: TokenClassificationRequest, registry: Registry, annotator: Annotator
) -> list[Json]:
    """The entities of a text, or its tokens, by the default model.

    Raises
    ------
    InputError
        Where the text is too long.
    """
    parameters = request.parameters or Parameters()
    selection = select_recogniser(registry, NerOptions(confidence=True), annotator.tokenizer)
    try:
        answer: dict[str, Any] = annotator.answer(Document(text=request.inputs), selection)
    except InputError as error:
        error.pointer = "/inputs"
        raise
    ignored = _OUTSIDE if parameters.ignore_labels is None else parameters.ignore_labels
    if parameters.aggregation_strategy == "none":
        return [
            {"entity": token["tag"], "index": index} | _place(token)
            for index, token in enumerate(answer["tokens"], start=1)
            if token["tag"] not in ignored
        ]
    spans = answer["spans"]
    return [
        {"entity_group": span["label"]} | _place(span)
        for span in spans
        if span["label"] not in ignored
    ]


def _place(part: dict[str, Any]) -> Json:
    return {
        "score": part["confidence"],
        "word": part["text"],
        "start": part["start"],
        "end": part["end"],
    }
