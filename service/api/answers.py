"""From annotations to what is answered: plain dicts, offsets in the unit that was asked for."""

from collections.abc import Set
from itertools import pairwise

import numpy as np

from service.api.schemas import OffsetUnit
from service.pipeline import Annotation
from service.text.spans import Span
from service.text.tokens import Offsets, offsets_of

Json = dict[str, object]
Places = list[int] | list[None]


def document_answer(
    annotation: Annotation,
    text: str | None,
    *,
    unit: OffsetUnit,
    spans: bool,
    labels: Set[str] | None,
) -> Json:
    """The answer of one document.

    Parameters
    ----------
    annotation : the tagged document.
    text : its text; None where it came as tokens, which have no offsets.
    unit : what offsets count.
    spans : whether the answer has spans.
    labels : of these labels only; None keeps all spans.
    """
    tokens = annotation.tokens
    table = None if text is None else unit_offsets(text, unit)
    starts = _places(tokens.starts, len(tokens.words), table)
    ends = _places(tokens.ends, len(tokens.words), table)
    tags = [annotation.labels[tag_id] for tag_id in annotation.tag_ids.tolist()]
    rows = zip(tokens.words, starts, ends, tags, strict=True)
    answer: Json = {
        "sentences": _sentences(annotation, starts, ends),
        "tokens": [
            {"text": word, "start": start, "end": end, "tag": tag} for word, start, end, tag in rows
        ],
    }
    if spans:
        answer["spans"] = [
            {
                "label": span.label,
                "text": _span_text(annotation, text, span),
                "start": starts[span.token_start],
                "end": ends[span.token_end - 1],
                "token_start": span.token_start,
                "token_end": span.token_end,
            }
            for span in annotation.spans
            if labels is None or span.label in labels
        ]
    return answer


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


def _places(offsets: Offsets | None, words: int, table: Offsets | None) -> Places:
    if offsets is None:
        return [None] * words
    places: list[int] = (offsets if table is None else table[offsets]).tolist()
    return places


def _sentences(annotation: Annotation, starts: Places, ends: Places) -> list[Json]:
    """Sentences with their ranges; one without tokens has no place in the text."""
    bounds = pairwise(annotation.tokens.sentence_offsets.tolist())
    sentences: list[Json] = [
        {
            "start": starts[first] if first < end else None,
            "end": ends[end - 1] if first < end else None,
            "token_start": first,
            "token_end": end,
        }
        for first, end in bounds
    ]
    for index in annotation.pieces:
        sentences[index]["split"] = True
    return sentences


def _span_text(annotation: Annotation, text: str | None, span: Span) -> str:
    tokens = annotation.tokens
    if text is None or tokens.starts is None or tokens.ends is None:
        return " ".join(tokens.words[span.token_start : span.token_end])
    return text[tokens.starts[span.token_start] : tokens.ends[span.token_end - 1]]
