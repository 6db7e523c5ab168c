"""Which tags words bear in text that a model has tagged."""

from collections import Counter

import pytest

from service.training.ambiguity_classes import ambiguity_classes


def classes_of(words):
    """The classes of words that bear the tags NN, VB, JJ and RB so often."""
    tags = ("NN", "VB", "JJ", "RB")
    return ambiguity_classes(
        {word: Counter(dict(zip(tags, counts, strict=False))) for word, counts in words.items()}
    )


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((5,), "NN!"),
        ((4, 6), "VB|NN"),
        ((10, 90), "VB|NN"),
        ((9, 91), "VB|NN!"),
        ((4, 96), "VB!"),
        ((40, 30, 20, 10), "NN|VB|JJ"),
    ],
)
def test_tags_that_are_often_borne_are_named_the_most_frequent_first(counts, expected):
    assert classes_of({"x": counts}) == {"x": expected}


def test_a_word_that_seldom_comes_has_no_class():
    assert classes_of({"x": (4,), "y": (2, 2)}) == {}


def test_in_lower_case_a_word_has_the_class_of_that_spelling_or_else_that_of_all_its_cases():
    assert classes_of({"May": (9, 1), "may": (0, 20)}) == {"May": "NN|VB", "may": "VB!"}
    assert classes_of({"June": (3,), "JUNE": (0, 3)}) == {"june": "NN|VB"}
    assert classes_of({"June": (6,), "june": (0, 2)}) == {"June": "NN!", "june": "NN|VB"}
