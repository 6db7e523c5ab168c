"""From annotations to what is answered: plain dicts, offsets in the unit that was asked for."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from service.annotation import Annotation
from service.api.explanation_answers import explanation_answer
from service.api.schemas import OffsetUnit
from service.api.selection import Selection
from service.decoding import TagSequence, distinct_labels
from service.text.spans import Span, spans_of_path
from service.text.tokens import Offsets, offsets_of

Json = dict[str, object]
Places = list[int] | list[None]
Floats = NDArray[np.float64]


def document_answer(annotation: Annotation, text: str | None, selection: Selection) -> Json:
    """The answer of one document.

    Parameters
    ----------
    annotation : the tagged document.
    text : its text; None where it came as tokens, which have no offsets.
    selection : what of it is wanted.
    """
    return _Answer(annotation, text, selection).json()


class _Answer:
    """One answer in the making."""

    def __init__(self, annotation: Annotation, text: str | None, selection: Selection) -> None:
        self._annotation = annotation
        self._words = annotation.words
        self._points = annotation.places
        self._text = text
        self._selection = selection
        self._starts, self._ends = self._places()

    def _places(self) -> tuple[Places, Places]:
        """Where words start and end in the unit; nowhere in a document of tokens."""
        if self._text is None or self._points is None:
            nowhere: Places = [None] * len(self._words)
            return nowhere, nowhere
        table = unit_offsets(self._text, self._selection.unit)
        if table is None:
            return self._points
        starts, ends = self._points
        places = table.tolist()
        return [places[start] for start in starts], [places[end] for end in ends]

    def json(self) -> Json:
        answer: Json = {"sentences": self._sentences(), "tokens": self._tokens()}
        if self._selection.spans:
            answer["spans"] = self._spans()
        if self._annotation.explanation is not None:
            offsets = self._annotation.tokens.sentence_offsets
            answer["explanation"] = explanation_answer(self._annotation.explanation, offsets)
        return answer

    def _sentences(self) -> list[Json]:
        """Sentences with their ranges; one without tokens has no place in the text."""
        starts, ends = self._starts, self._ends
        bounds = self._annotation.sentences
        sentences: list[Json] = [
            {
                "start": starts[first] if first < end else None,
                "end": ends[end - 1] if first < end else None,
                "token_start": first,
                "token_end": end,
            }
            for first, end in bounds
        ]
        for index in self._annotation.pieces:
            sentences[index]["split"] = True
        if self._selection.inference.n_best:
            n_best = self._annotation.inferred.n_best or ()
            for sentence, sequences, (first, _) in zip(sentences, n_best, bounds, strict=True):
                sentence["n_best"] = [self._sequence(each, first) for each in sequences]
        return sentences

    def _tokens(self) -> list[Json]:
        wanted = self._selection
        rows = zip(self._words, self._starts, self._ends, self._annotation.tags, strict=True)
        tokens: list[Json] = [
            {"text": word, "start": start, "end": end, "tag": tag} for word, start, end, tag in rows
        ]
        if wanted.confidence:
            confidences = _listed(self._annotation.inferred.confidences, len(tokens))
            for token, confidence in zip(tokens, confidences, strict=True):
                token["confidence"] = confidence
        if wanted.inference.marginals:
            for token, marginals in zip(tokens, self._marginals(), strict=True):
                token["marginals"] = marginals
        return tokens

    def _marginals(self) -> Iterator[dict[str, float] | None]:
        marginals = self._annotation.inferred.marginals
        if marginals is None:
            yield from [None] * len(self._words)
            return
        labels = distinct_labels(self._annotation.labels)
        for row in marginals.tolist():
            yield dict(zip(labels, row, strict=True))

    def _spans(self) -> list[Json]:
        annotation, wanted = self._annotation, self._selection
        if not wanted.inference.confidences:
            return [self._span(span) for span in annotation.spans if self._has_label(span)]
        spans, found = [], annotation.spans
        confidences = _listed(annotation.inferred.span_confidences, len(found))
        for span, confidence in zip(found, confidences, strict=True):
            if self._has_label(span) and (confidence or 0.0) >= (wanted.threshold or 0.0):
                shown = {"confidence": confidence} if wanted.confidence else {}
                spans.append(self._span(span) | shown)
        return spans

    def _has_label(self, span: Span) -> bool:
        labels = self._selection.labels
        return labels is None or span.label in labels

    def _span(self, span: Span) -> Json:
        return {
            "label": span.label,
            "text": self._span_text(span),
            "start": self._starts[span.token_start],
            "end": self._ends[span.token_end - 1],
            "token_start": span.token_start,
            "token_end": span.token_end,
        }

    def _span_text(self, span: Span) -> str:
        if self._text is None or self._points is None:
            return " ".join(self._words[span.token_start : span.token_end])
        starts, ends = self._points
        return self._text[starts[span.token_start] : ends[span.token_end - 1]]

    def _sequence(self, sequence: TagSequence, first: int) -> Json:
        """One of the best tag sequences of the sentence that begins with token `first`."""
        labels = self._annotation.labels
        answer: Json = {
            "log_prob": sequence.log_prob,
            "tags": [labels[tag_id] for tag_id in sequence.tag_ids.tolist()],
        }
        if self._selection.spans:
            spans = (span.shifted(first) for span in spans_of_path(sequence.tag_ids, labels))
            answer["spans"] = [self._span(span) for span in spans if self._has_label(span)]
        return answer


def _listed(confidences: Floats | None, count: int) -> list[float] | list[None]:
    """Confidences as a list; as many None where the model is no probability model."""
    if confidences is None:
        return [None] * count
    values: list[float] = confidences.tolist()
    return values


def unit_offsets(text: str, unit: OffsetUnit) -> Offsets | None:
    """Where each code point of `text` begins, in `unit`: (N + 1,); None where it is its index.

    A lone surrogate counts as what it takes where it is allowed: one unit, or three bytes.
    """
    if unit == "codepoint" or text.isascii():
        return None
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")  # (N,)
    widths = (points > 0xFFFF).astype(np.int64) + 1
    if unit == "utf8":
        widths += (points > 0x7F).astype(np.int64) + (points > 0x7FF)
    return offsets_of(widths)
