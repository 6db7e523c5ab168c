from itertools import pairwise, product

import numpy as np

from service.decoding import Constraints, bio_constraints, bioes_constraints
from service.text.bioes import bioes_of
from service.text.spans import repair


def allowed(labels):
    constraints = bio_constraints(labels)
    return {
        (before, after)
        for i, before in enumerate(labels)
        for j, after in enumerate(labels)
        if constraints.transitions[i, j] == 0
    }


def test_inside_follows_only_a_begin_or_inside_of_its_own_label():
    labels = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG")
    into_inside = {pair for pair in allowed(labels) if pair[1].startswith("I-")}
    assert into_inside == {
        ("B-PER", "I-PER"),
        ("I-PER", "I-PER"),
        ("B-ORG", "I-ORG"),
        ("I-ORG", "I-ORG"),
    }


def test_everything_but_inside_may_follow_anything():
    labels = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG")
    others = {(a, b) for a in labels for b in labels if not b.startswith("I-")}
    assert others <= allowed(labels)


def test_a_sentence_never_begins_inside_and_may_end_anywhere():
    constraints = bio_constraints(("O", "B-X", "I-X"))
    assert constraints.start.tolist() == [0, 0, -np.inf]
    assert constraints.end.tolist() == [0, 0, 0]


def test_labels_named_like_tags_are_told_apart():
    labels = ("O", "B-O", "I-O", "B-B-O", "I-B-O", "B-I-O", "I-I-O")
    into_inside = {pair for pair in allowed(labels) if pair[1].startswith("I-")}
    assert into_inside == {
        (prefix + label, "I-" + label) for label in ("O", "B-O", "I-O") for prefix in ("B-", "I-")
    }


def test_no_constraints_allow_everything():
    none = Constraints.none(3)
    assert not any(array.any() for array in (none.transitions, none.start, none.end))


def test_bioes_allows_the_sequences_that_tags_unfold_to_and_no_other():
    tags = ("O", "B-A", "I-A", "B-B", "I-B")
    sentences = [s for n in (1, 2, 3) for s in product(tags, repeat=n) if repair(s) == list(s)]
    unfolded = {bioes_of(sentence) for sentence in sentences}
    states = ("O", *(f"{prefix}-{label}" for prefix in "BIES" for label in "AB"))
    constraints = bioes_constraints(states)

    def score(path):
        inner = sum(constraints.transitions[i, j] for i, j in pairwise(path))
        return constraints.start[path[0]] + inner + constraints.end[path[-1]]

    paths = [p for n in (1, 2, 3) for p in product(range(len(states)), repeat=n) if score(p) == 0]
    assert {tuple(states[i] for i in path) for path in paths} == unfolded


def test_states_are_constrained_as_the_tags_that_they_bear():
    bio = bio_constraints(("O", "B-X", "I-X"))
    of_states = bio.of_states([2, 0, 2])
    assert of_states.start.tolist() == [-np.inf, 0, -np.inf]
    assert of_states.transitions.tolist() == [[0, 0, 0], [-np.inf, 0, -np.inf], [0, 0, 0]]


def test_constraints_together_allow_what_both_allow():
    bio = bio_constraints(("O", "B-X", "I-X"))
    none = Constraints.none(3)
    assert ((bio + none).transitions == bio.transitions).all()
    assert ((bio + bio).start == bio.start).all()
