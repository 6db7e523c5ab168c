"""From explanations to what is answered: arrays of numbers that a page can draw a lattice from."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.decoding import NOWHERE, Transitions, Trellis
from service.taggers.explanation import Candidate, Explanation
from service.text.tokens import Offsets

Json = dict[str, object]

_DIGITS = 6


def explanation_answer(explanation: Explanation, sentence_offsets: Offsets) -> Json:
    """The explanation of one document. Minus infinity becomes null in JSON.

    Parameters
    ----------
    explanation : of M tokens.
    sentence_offsets : (S + 1,)
    """
    trellis = explanation.trellis
    rows = zip(pairwise(sentence_offsets.tolist()), trellis.scores.tolist(), strict=True)
    return {
        "tags": trellis.tags,
        **_transitions(explanation.transitions),
        "sentences": [_sentence(trellis, first, end, score) for (first, end), score in rows],
        "tokens": _tokens(explanation),
    }


def _transitions(transitions: Transitions | None) -> Json:
    if transitions is None:
        return {"start": None, "transitions": None, "end": None}
    return {
        "start": _rounded(transitions.start),
        "transitions": _rounded(transitions.between),
        "end": _rounded(transitions.end),
    }


def _sentence(trellis: Trellis, first: int, end: int, score: float) -> Json:
    overruled = trellis.off_the_column_best()
    return {
        "score": round(score, _DIGITS),
        "best_path": trellis.path[first:end].tolist(),
        "overruled": [token - first for token in overruled.tolist() if first <= token < end],
        "emissions": _rounded(trellis.emissions[first:end]),
        "cells": _rounded(trellis.cells[first:end]),
        "back_pointers": [
            [None if tag == NOWHERE else tag for tag in row]
            for row in trellis.back_pointers[first:end].tolist()
        ],
    }


def _tokens(explanation: Explanation) -> list[Json] | None:
    """Of each token its tag and the runner-up; None where there are no features."""
    if explanation.candidates is None:
        return None
    rows = zip(explanation.candidates, explanation.trellis.emissions, strict=True)
    tags = explanation.trellis.tags
    return [
        {
            "best": _candidate(best, emissions, tags),
            "runner_up": None if second is None else _candidate(second, emissions, tags),
        }
        for (best, second), emissions in rows
    ]


def _candidate(
    candidate: Candidate, emissions: NDArray[np.floating[Any]], tags: tuple[str, ...]
) -> Json:
    return {
        "tag": tags[candidate.tag_id],
        "transition": round(candidate.transition, _DIGITS),
        "emission": round(float(emissions[candidate.tag_id]), _DIGITS),
        "features": [
            {"feature": name, "weight": round(weight, _DIGITS)}
            for name, weight in candidate.features
        ],
    }


def _rounded(scores: NDArray[np.floating[Any]]) -> list[Any]:
    rounded: list[Any] = (scores.astype(np.float64).round(_DIGITS) + 0.0).tolist()  # no -0.0
    return rounded
