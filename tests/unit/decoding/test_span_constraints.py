"""Constraints on spans, held against enumeration of the paths that meet them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.decoding import (
    SpanConstraint,
    best_paths,
    bio_constraints,
    bioes_constraints,
    constraint_evidence,
    with_evidence,
)
from service.errors import InputError
from service.text.bioes import bio_of
from service.text.spans import spans_of_tags
from tests.made_chains import BIO, BIOES, chain, path_score, quarters, scored_paths


def is_met(constraint, spans):
    first, end = constraint.token_start, constraint.token_end
    same = [span for span in spans if constraint.label in ("*", span.label)]
    if constraint.mode == "span":
        return (first, end) in [(span.token_start, span.token_end) for span in same]
    if constraint.mode == "inside":
        return any(span.token_start <= first and end <= span.token_end for span in same)
    return not any(span.token_start < end and first < span.token_end for span in same)


@st.composite
def constrained_scores(draw, states):
    """Up to two sentences of up to three tokens, and up to three constraints on them."""
    bioes = states is BIOES
    constraints = (bioes_constraints if bioes else bio_constraints)(states)
    lengths = draw(st.lists(st.integers(0, 3), min_size=1, max_size=2).filter(any))
    offsets = [0, *itertools.accumulate(lengths)]
    size = offsets[-1] * len(states)
    emissions = draw(st.lists(quarters, min_size=size, max_size=size))
    scores = chain(
        np.array(emissions).reshape(-1, len(states)),
        constraints.transitions + 0.25 * np.arange(len(states)),
        constraints.start,
        constraints.end,
        offsets,
    )
    ranges = list(itertools.combinations(range(offsets[-1] + 1), 2))
    constraint = st.builds(
        lambda place, kind: SpanConstraint(*place, *kind),
        st.sampled_from(ranges),
        st.sampled_from([("*", "forbid"), *itertools.product("AB", ("span", "inside", "forbid"))]),
    )
    return scores, draw(st.lists(constraint, max_size=3))


@pytest.mark.parametrize("states", [BIO, BIOES])
@given(data=st.data())
def test_the_best_path_is_the_best_of_those_that_meet_the_constraints(states, data):
    scores, constraints = data.draw(constrained_scores(states))
    labels = tuple(map(bio_of, states)) if states is BIOES else states
    best, possible = [], True
    for s, first in enumerate(scores.offsets[:-1].tolist()):
        totals = [-np.inf]
        end = scores.offsets[s + 1]
        mine = [c for c in constraints if c.token_start < end and first < c.token_end]
        for path, total in scored_paths(scores, s):
            if total > -np.inf:
                spans = [span.shifted(first) for span in spans_of_tags([labels[k] for k in path])]
                if all(is_met(constraint, spans) for constraint in mine):
                    totals.append(total)
        best.append(max(totals))
        possible = possible and max(totals) > -np.inf
    if not possible:
        with pytest.raises(InputError, match="constraint"):
            constraint_evidence(constraints, labels, scores.offsets)
        return
    found = with_evidence(scores, constraint_evidence(constraints, labels, scores.offsets))
    paths = best_paths(found)
    for s, (first, end) in enumerate(itertools.pairwise(scores.offsets)):
        assert path_score(scores, s, paths[first:end]) == best[s]


def evidence(*constraints, offsets=(0, 4), labels=BIO):
    return constraint_evidence(
        [SpanConstraint(*each) for each in constraints], labels, np.array(offsets)
    )


@pytest.mark.parametrize(
    ("first", "second", "token"),
    [
        ((0, 2, "A", "span"), (0, 2, "B", "span"), 0),
        ((0, 2, "A", "span"), (1, 3, "A", "span"), 1),
        ((0, 2, "A", "span"), (0, 3, "A", "span"), 2),
        ((0, 2, "A", "span"), (1, 3, "A", "inside"), 2),
        ((0, 2, "A", "inside"), (1, 2, "A", "span"), 1),
        ((1, 2, "A", "inside"), (0, 4, "A", "forbid"), 1),
        ((0, 4, "*", "forbid"), (2, 3, "B", "span"), 2),
    ],
)
def test_two_that_contradict_each_other_are_both_named(first, second, token):
    unrelated = (3, 4, "A", "forbid") if token != 3 else (0, 1, "A", "forbid")
    with pytest.raises(InputError) as caught:
        evidence(unrelated, first, second)
    assert caught.value.detail == f"constraints 1 and 2 contradict each other at token {token}"
    assert caught.value.pointer == "/constraints/2"


@pytest.mark.parametrize("mode", ["span", "inside"])
def test_a_span_does_not_reach_over_the_end_of_a_sentence(mode):
    with pytest.raises(InputError, match="over the end of a sentence, at token 2") as caught:
        evidence((0, 4, "*", "forbid"), (1, 3, "A", mode), offsets=(0, 2, 2, 4))
    assert caught.value.pointer == "/constraints/1"


def test_what_no_tag_of_the_model_meets_is_named():
    with pytest.raises(InputError, match="constraint 0 cannot be met at token 1"):
        evidence((0, 2, "A", "span"), labels=("O", "B-A"))


def test_scores_without_evidence_are_the_same_and_with_it_a_copy():
    scores = chain(np.zeros((4, 5)), np.zeros((5, 5)))
    assert with_evidence(scores, []) is scores
    with_evidence(scores, evidence((0, 1, "A", "span")))
    assert not scores.emissions.any()
