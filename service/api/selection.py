"""Which model answers a request, and what of its tags is wanted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from service.api.monitoring.record import current
from service.api.problems import INVALID_REQUEST, Problem
from service.api.schemas import DictionaryEntry, NerOptions, OffsetUnit, Options, TagOptions
from service.decoding import Dictionary, Entry, Inference
from service.errors import InputError
from service.store.registry import LoadedModel, Registry
from service.text.phrases import Phrase
from service.text.spans import split_tag
from service.text.tokenizer import Tokenizer

DEFAULT_TAGSET = "ptb"
DEFAULT_UNIT: OffsetUnit = "codepoint"


@dataclass(frozen=True, slots=True)
class Selection:
    """What a request asks for, beside its documents.

    Attributes
    ----------
    model : the model that answers.
    spans : whether the answer has spans.
    unit : what offsets count.
    inference : what is inferred beside the tags.
    confidence : whether tokens and spans show their confidence.
    labels : spans of these labels only; None keeps all.
    threshold : spans of this confidence at least; None keeps all.
    sentences : whether a document has sentences; else it is taken as one.
    explain : whether the tags are explained.
    dictionary : phrases that are likely spans; None for none.
    """

    model: LoadedModel
    spans: bool
    unit: OffsetUnit
    inference: Inference
    confidence: bool
    labels: frozenset[str] | None = None
    threshold: float | None = None
    sentences: bool = True
    explain: bool = False
    dictionary: Dictionary | None = None


def select_tagger(registry: Registry, options: TagOptions) -> Selection:
    """What a request for parts of speech asks for."""
    if options.model is None:
        model = registry.default("tag", options.tagset or DEFAULT_TAGSET)
    else:
        model = _named(registry, options.model, "tag")
        if options.tagset not in (None, model.manifest.tagset):
            detail = f"the model {model.manifest.name} has the tagset {model.manifest.tagset}"
            raise InputError(detail, "/tagset")
    return _selection(model, options, spans=False)


def select_recogniser(registry: Registry, options: NerOptions, tokenizer: Tokenizer) -> Selection:
    """What a request for named entities asks for."""
    if options.model is None:
        model = registry.default("ner", None)
    else:
        model = _named(registry, options.model, "ner")
    selection = _selection(model, options, spans=True)
    if options.labels is not None:
        for index, label in enumerate(options.labels):
            check_label(model, label, f"/labels/{index}")
        selection = replace(selection, labels=frozenset(options.labels))
    if options.dictionary:
        dictionary = _dictionary(model, options.dictionary, tokenizer)
        selection = replace(selection, dictionary=dictionary)
    if options.threshold is not None:
        if not model.tagger.probabilistic:
            detail = f"the model {model.manifest.name} gives no probabilities"
            raise InputError(detail, "/threshold")
        inference = replace(selection.inference, confidences=True)
        selection = replace(selection, threshold=options.threshold, inference=inference)
    return selection


def _selection(model: LoadedModel, options: Options, *, spans: bool) -> Selection:
    """What both tasks may ask for."""
    current().model = model.manifest.name
    confidence = bool(options.confidence)
    return Selection(
        model,
        spans,
        unit=options.offset_unit or DEFAULT_UNIT,
        inference=Inference(confidence, bool(options.marginals), options.n_best or 0),
        confidence=confidence,
        sentences=options.sentences is not False,
        explain=bool(options.explain),
    )


def span_labels(labels: tuple[str, ...]) -> tuple[str, ...]:
    """The labels that spans of these BIO tags have: ``("O", "B-PER", "I-PER")`` to ``("PER",)``."""
    return tuple(sorted({label for tag in labels if (label := split_tag(tag)[1])}))


def check_label(model: LoadedModel, label: str, pointer: str) -> None:
    """Raise where the model has no spans of a label that stands at `pointer` in the request."""
    known = span_labels(model.tagger.labels)
    if label not in known:
        name = model.manifest.name
        detail = f"the model {name} has no such label; it has {', '.join(known)}"
        raise Problem(INVALID_REQUEST, detail, pointer=pointer, known=known)


def _dictionary(
    model: LoadedModel, given: Sequence[DictionaryEntry], tokenizer: Tokenizer
) -> Dictionary:
    entries = []
    for index, (entry, tokens) in enumerate(
        zip(given, tokenizer.tokenize_all([entry.phrase for entry in given]), strict=True)
    ):
        check_label(model, entry.label, f"/dictionary/{index}/label")
        if not tokens.words:
            raise InputError("A phrase must not be blank", f"/dictionary/{index}/phrase")
        phrase = Phrase(tuple(tokens.words), bool(entry.match_case))
        entries.append(Entry(phrase, entry.label, entry.weight))
    return Dictionary(entries, model.tagger.labels)


def _named(registry: Registry, name: str, task: str) -> LoadedModel:
    manifest = registry.manifests.get(name)
    if manifest is not None and manifest.task != task:
        raise InputError(f"the model {name} answers at /{manifest.task}", "/model")
    return registry.get(name)
