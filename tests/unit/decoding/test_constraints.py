import numpy as np

from service.decoding import Constraints, bio_constraints


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
