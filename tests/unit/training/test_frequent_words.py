"""The words whose rows are made at load: the frequent ones, so many and no more."""

from service.text.conll import TaggedSentence
from service.training.frequent_words import ROWS_AT_LOAD, frequent_words


def sentence(*words: str) -> TaggedSentence:
    return TaggedSentence(words, ("X",) * len(words))


def test_they_come_in_falling_order_and_ties_as_they_came():
    sentences = [sentence("a", "b", "b"), sentence("c", "B", "c", "c")]
    assert frequent_words(sentences) == ["c", "b", "a", "B"]


def test_the_rare_ones_are_left_out():
    rare = [f"rare{i}" for i in range(ROWS_AT_LOAD)]
    words = frequent_words([sentence(*rare), sentence("often", "often")])
    assert words == ["often", *rare[:-1]]
