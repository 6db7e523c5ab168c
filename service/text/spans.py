"""BIO tags and spans: strict IOB2 in and out; ill-formed input is read as conlleval reads it."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from service.text.tokens import Offsets

Flags = NDArray[np.bool_]


class Span(NamedTuple):
    """Tokens ``token_start`` to ``token_end`` (half-open) bear `label`."""

    label: str
    token_start: int
    token_end: int

    def shifted(self, by: int) -> "Span":
        """The same span, `by` tokens further."""
        return Span(self.label, self.token_start + by, self.token_end + by)


def split_tag(tag: str) -> tuple[str, str]:
    """Prefix and label of a BIO tag: ``B-PER`` to ``("B", "PER")``, ``O`` to ``("O", "")``.

    Only the first hyphen separates, so that a label may be named anything, ``B-O`` included.

    Raises
    ------
    ValueError
        Where the tag is no BIO tag.
    """
    prefix, hyphen, label = tag.partition("-")
    if tag == "O" or (prefix in ("B", "I") and hyphen and label):
        return prefix, label
    raise ValueError(f"{tag!r} is no BIO tag: expected O, B-<label> or I-<label>")


def repair(tags: Sequence[str]) -> list[str]:
    """Make the tags of one sentence strict IOB2, the conlleval way.

    An ``I-X`` that follows neither ``B-X`` nor ``I-X`` begins a span, so it becomes ``B-X``.
    """
    repaired = []
    inside = ""  # the label of the span that the previous tag was in
    for tag in tags:
        prefix, label = split_tag(tag)
        repaired.append(f"B-{label}" if prefix == "I" and label != inside else tag)
        inside = label
    return repaired


def spans_of_tags(tags: Sequence[str]) -> list[Span]:
    """Spans of the tags of one sentence, after `repair`."""
    strict = repair(tags)
    labels = tuple(dict.fromkeys(strict))
    ids = {tag: i for i, tag in enumerate(labels)}
    return spans_of_path(np.array([ids[tag] for tag in strict], dtype=np.int64), labels)


def spans_of_path(path: NDArray[np.int64], labels: tuple[str, ...]) -> list[Span]:
    """Spans of strict IOB2 tag ids, in order; see `span_ranges`."""
    names = span_states(labels).names
    starts, ends = span_ranges(path, labels)
    of_spans = zip(path[starts].tolist(), starts.tolist(), ends.tolist(), strict=True)
    return [Span(names[tag_id], start, end) for tag_id, start, end in of_spans]


def span_ranges(path: NDArray[np.int64], labels: tuple[str, ...]) -> tuple[Offsets, Offsets]:
    """Where the N spans of strict IOB2 tag ids (M,) start and end: (N,) each, in order.

    Sentences may follow each other, since a strict sentence never begins with an I- tag.
    """
    states = span_states(labels)
    starts = states.begins[path].nonzero()[0]
    if not len(starts):  # most sentences
        return starts, starts
    outside = np.append((~states.continues[path]).nonzero()[0], len(path))  # tokens that end a span
    return starts, outside[outside.searchsorted(starts, side="right")]


class SpanStates(NamedTuple):
    """What K BIO tags are to spans.

    Attributes
    ----------
    names : the K labels; that of O is empty.
    name_ids : (K,) equal where the labels are.
    begins, continues : (K,) the tags that begin a span and those that continue one.
    """

    names: list[str]
    name_ids: Offsets
    begins: Flags
    continues: Flags


@lru_cache(maxsize=100)
def span_states(labels: tuple[str, ...]) -> SpanStates:
    """What K BIO tags are to spans.

    Raises
    ------
    ValueError
        Where a label is no BIO tag.
    """
    parts = [split_tag(label) for label in labels]
    names = [name for _, name in parts]
    ids = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return SpanStates(
        names,
        np.array([ids[name] for name in names], dtype=np.int64),
        np.array([prefix == "B" for prefix, _ in parts], dtype=np.bool_),
        np.array([prefix == "I" for prefix, _ in parts], dtype=np.bool_),
    )
