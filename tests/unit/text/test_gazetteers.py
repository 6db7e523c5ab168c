import numpy as np
import pytest

from service.text.features import BOUNDARY
from service.text.gazetteers import Gazetteers

CLASSES = ["city", "firm"]
PHRASES = {"New York": 1, "New York Times": 2, "York": 3, "united airlines": 2, "A": 1}
GAZETTEERS = Gazetteers(CLASSES, list(PHRASES), np.array(list(PHRASES.values())))


def features(text):
    """The features of each word, the boundary words before and after left out."""
    words = [BOUNDARY, *text.split(), BOUNDARY]
    found = [[] for _ in words]
    for token, which, position in GAZETTEERS.match(words):
        found[token] += GAZETTEERS.features[which][position]
    return found[1:-1]


def test_a_match_marks_its_tokens_and_those_beside_it():
    assert features("in New York now") == [
        ["city:exact:before"],
        ["city:exact:first"],
        ["city:exact:last"],
        ["city:exact:after"],
    ]


def test_a_single_token_in_two_classes_has_the_features_of_both():
    assert features("York") == [["city:exact:single", "firm:exact:single"]]


def test_the_longest_phrase_wins():
    assert features("New York Times") == [
        ["firm:exact:first"],
        ["firm:exact:inside"],
        ["firm:exact:last"],
    ]


@pytest.mark.parametrize("text", ["new york", "NEW YORK", "New york"])
def test_other_casing_is_a_match_of_its_own_kind(text):
    assert features(text) == [["city:folded:first"], ["city:folded:last"]]


def test_the_beginning_of_a_phrase_is_no_match():
    assert features("New Yorkers united") == [[], [], []]
    assert features("united we stand") == [[], [], []]


def test_matches_follow_each_other_without_overlap():
    assert features("New York York") == [
        ["city:exact:first"],
        ["city:exact:before", "firm:exact:before", "city:exact:last"],
        ["city:exact:single", "firm:exact:single", "city:exact:after"],
    ]


def test_no_phrases_match_nothing():
    empty = Gazetteers([], [], np.zeros(0, dtype=np.int64))
    assert empty.match([BOUNDARY, "New", BOUNDARY]) == []
