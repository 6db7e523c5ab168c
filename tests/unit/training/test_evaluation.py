import numpy as np
import pytest

from service.decoding import ChainScores
from service.text.conll import TaggedSentence
from service.training.evaluation import evaluate

LABELS = ("O", "B-PER", "I-PER", "B-ORG")


class Oracle:
    """Tags every word with the label that the word is."""

    labels = LABELS

    def score(self, words, sentence_offsets):
        emissions = np.array([[word == label for label in LABELS] for word in words], dtype=float)
        none = np.zeros(len(LABELS))
        transitions = np.zeros((len(LABELS), len(LABELS)))
        return ChainScores(emissions.reshape(-1, 4), transitions, none, none, sentence_offsets)


def measure(task, *pairs):
    """Evaluate on sentences given as (what is found, what is right)."""
    sentences = [TaggedSentence(tuple(f.split()), tuple(r.split())) for f, r in pairs]
    return evaluate(Oracle(), task, sentences, "made", "test", 10_000)


def test_accuracy_is_the_share_of_right_tags():
    found = measure("tag", ("O B-PER", "O O"), ("O", "O"))
    assert (found.metric, found.value, found.sentences, found.tokens) == (
        "accuracy",
        pytest.approx(2 / 3),
        2,
        3,
    )
    assert (found.precision, found.recall) == (None, None)


def test_an_entity_counts_only_with_its_boundaries_and_its_label():
    found = measure(
        "ner",
        ("B-PER I-PER O", "B-PER I-PER O"),  # right
        ("B-PER I-PER O", "B-PER O O"),  # wrong boundary
        ("B-PER O O", "B-ORG O O"),  # wrong label
        ("O O O", "O B-ORG O"),  # missed
    )
    assert found.precision == pytest.approx(1 / 3)
    assert found.recall == pytest.approx(1 / 4)
    assert found.value == pytest.approx(2 / 7)


def test_entities_of_neighbouring_sentences_do_not_touch():
    assert measure("ner", ("B-PER", "B-PER"), ("B-PER I-PER", "B-PER I-PER")).value == 1


def test_a_figure_that_is_not_defined_is_none():
    found = measure("ner", ("O O", "O O"))
    assert (found.value, found.precision, found.recall) == (None, None, None)
    assert measure("tag").value is None
