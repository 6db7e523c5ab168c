"""Which tags words bear in text that a model has tagged."""

import numpy as np
import pytest

from service.decoding import ChainScores, Transitions
from service.training.ambiguity_classes import ambiguity_classes

TAGS = ("NN", "VB", "JJ", "RB")


class AsToldBefore:
    """Gives each word the tag that the word before it is, and the first of a sentence none else."""

    labels = TAGS

    def score(self, words, sentence_offsets):
        emissions = np.zeros((len(words), len(TAGS)), dtype=np.float32)
        for i, before in enumerate(words[:-1]):
            if before in TAGS:
                emissions[i + 1, TAGS.index(before)] = 1
        flat = Transitions(np.zeros((4, 4)), np.zeros(4), np.zeros(4))
        return ChainScores(emissions, flat, sentence_offsets)


def classes_of(counts):
    """The classes of the words that bear each of `TAGS` so often."""
    sentences = [
        (tag, word)
        for word, of_tags in counts.items()
        for tag, count in zip(TAGS, of_tags, strict=False)
        for _ in range(count)
    ]
    found = ambiguity_classes([sentences[::2], [], iter(sentences[1::2])], AsToldBefore())
    return {word: of for word, of in found.items() if word not in (*TAGS, *map(str.lower, TAGS))}


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


def test_a_word_has_the_class_of_its_spelling_and_else_that_of_all_its_cases():
    assert classes_of({"May": (9, 1), "may": (0, 20)}) == {"May": "NN|VB", "may": "VB!"}
    assert classes_of({"June": (3,), "JUNE": (0, 3)}) == {"june": "NN|VB"}
    assert classes_of({"June": (6,), "june": (0, 2)}) == {"June": "NN!", "june": "NN|VB"}


def test_text_without_a_sentence_tells_nothing():
    assert ambiguity_classes([], AsToldBefore()) == {}
    assert ambiguity_classes([[]], AsToldBefore()) == {}
