"""BIO tags and spans: strict IOB2 in and out; ill-formed input is read as conlleval reads it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Span:
    """Tokens ``token_start`` to ``token_end`` (half-open) bear `label`."""

    label: str
    token_start: int
    token_end: int

    def shifted(self, by: int) -> "Span":
        """The same span, `by` tokens further."""
        return replace(self, token_start=self.token_start + by, token_end=self.token_end + by)


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


def spans_of_path(path: NDArray[np.int64], labels: Sequence[str]) -> list[Span]:
    """Spans of strict IOB2 tag ids, in order.

    Parameters
    ----------
    path : (M,) indexes into `labels`; sentences may follow each other, since a strict
        sentence never begins with an I- tag.
    labels : K BIO tags.
    """
    parts = [split_tag(label) for label in labels]
    begins = np.array([prefix == "B" for prefix, _ in parts], dtype=np.bool_)  # (K,)
    inside = np.array([prefix == "I" for prefix, _ in parts], dtype=np.bool_)  # (K,)
    starts = np.flatnonzero(begins[path])
    if not len(starts):
        return []
    outside = np.append(np.flatnonzero(~inside[path]), len(path))  # tokens that end a span
    ends = outside[np.searchsorted(outside, starts, side="right")]
    return [
        Span(parts[path[start]][1], start, end)
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]
