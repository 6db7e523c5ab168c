"""What a caller knows of spans, as evidence: ranges of tokens that are one span, lie inside some
span, or bear none. Minus infinity for whatever contradicts it; the decoder does the rest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from service.decoding.evidence import Evidence
from service.errors import InputError
from service.text.spans import SpanStates, span_states
from service.text.tokens import Offsets

Mode = Literal["span", "inside", "forbid"]
ANY_LABEL = "*"

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SpanConstraint:
    """What is known of the tokens ``token_start`` to ``token_end`` (half-open) of a document.

    Attributes
    ----------
    label : of spans; `ANY_LABEL` to forbid those of all labels.
    mode : ``span``: they are exactly one span of the label. ``inside``: some span of it covers
        them all. ``forbid``: none of them is in a span of it.
    """

    token_start: int
    token_end: int
    label: str
    mode: Mode


def constraint_evidence(
    constraints: Sequence[SpanConstraint], labels: tuple[str, ...], sentence_offsets: Offsets
) -> list[Evidence]:
    """Constraints on a document of M tokens as evidence.

    Parameters
    ----------
    constraints : ranges of at least one token each, of labels that there are.
    labels : the BIO tags that the K states bear.
    sentence_offsets : (S + 1,) of the document.

    Raises
    ------
    InputError
        Where a span would reach beyond its sentence, or constraints contradict each other or
        what tags there are. Names the constraint, and that which it contradicts.
    """
    states = span_states(labels)
    pieces = [
        _allowed(constraint, index, states, sentence_offsets)
        for index, constraint in enumerate(constraints)
    ]
    _check_contradictions(pieces, int(sentence_offsets[-1]), len(labels))
    return [
        Evidence(start, end, np.where(allowed, 0.0, -np.inf))
        for each in pieces
        for start, end, allowed in each
    ]


Piece = tuple[int, int, Flags]
"""Tokens from a first to an end, and the states (K,) that they may have."""


def _allowed(
    constraint: SpanConstraint, index: int, states: SpanStates, sentence_offsets: Offsets
) -> list[Piece]:
    """The states that a constraint allows."""
    first, end = constraint.token_start, constraint.token_end
    begins, continues = _states_of(constraint.label, states)
    if constraint.mode == "forbid":
        return [(first, end, ~(begins | continues))]
    sentence_end = int(sentence_offsets[sentence_offsets.searchsorted(first, side="right")])
    if end > sentence_end:
        detail = f"constraint {index} reaches over the end of a sentence, at token {sentence_end}"
        raise InputError(detail, _pointer(index))
    if constraint.mode == "inside":
        return list(_whole(first, end, begins | continues, continues))
    pieces = list(_whole(first, end, begins, continues))
    if end < sentence_end:  # else it ends with the sentence
        pieces.append((end, end + 1, ~continues))
    return pieces


def _states_of(label: str, states: SpanStates) -> tuple[Flags, Flags]:
    """The states that begin, and those that continue, spans of a label."""
    if label == ANY_LABEL:
        return states.begins, states.continues
    named = np.array([name == label for name in states.names], dtype=np.bool_)
    return states.begins & named, states.continues & named


def _whole(first: int, end: int, of_first: Flags, of_others: Flags) -> Iterator[Piece]:
    yield first, first + 1, of_first
    if end > first + 1:
        yield first + 1, end, of_others


def _check_contradictions(pieces: Sequence[Sequence[Piece]], tokens: int, states: int) -> None:
    """Raise where a token is left without a state.

    No other contradiction is possible among strict BIO tags: what may begin a span may follow
    whatever is before it, and what has to continue one has to after the same label alone.
    """
    left = np.ones((tokens, states), dtype=np.bool_)  # (M, K)
    for index, each in enumerate(pieces):
        for start, end, allowed in each:
            left[start:end] &= allowed
            empty = np.flatnonzero(~left[start:end].any(axis=1))
            if len(empty):
                raise _contradiction(pieces, index, start + int(empty[0]), allowed)


def _contradiction(
    pieces: Sequence[Sequence[Piece]], index: int, token: int, allowed: Flags
) -> InputError:
    """What is wrong with the constraint `index`, which allows nothing more at a token."""
    for other, each in enumerate(pieces[:index]):
        for start, end, also in each:
            if start <= token < end and not (allowed & also).any():
                detail = f"constraints {other} and {index} contradict each other at token {token}"
                return InputError(detail, _pointer(index))
    return InputError(
        f"constraint {index} cannot be met at token {token} by the tags of the model and the other "
        "constraints",
        _pointer(index),
    )


def _pointer(index: int) -> str:
    return f"/constraints/{index}"
