import numpy as np
import pytest

from service.decoding import ChainScores, Transitions
from service.text.conll import TaggedSentence
from service.text.tokens import offsets_of
from service.training.evaluation import Evaluator
from service.training.raw_text import RawText

LABELS = ("O", "B-PER", "I-PER", "B-ORG")


class Oracle:
    """Tags every word with the label that the word is, and Jane and Bob as persons."""

    labels = LABELS
    probabilistic = True

    def score(self, words, sentence_offsets):
        known = {"Jane": "B-PER", "Bob": "B-PER", "Lee": "I-PER"}
        tags = [known.get(word, word) for word in words]
        emissions = np.array([[tag == label for label in LABELS] for tag in tags], dtype=float)
        free = Transitions(np.zeros((4, 4)), np.zeros(4), np.zeros(4))
        return ChainScores(emissions.reshape(-1, 4), free, sentence_offsets)


def measure(task, *pairs, case=""):
    """Evaluate on sentences given as (what is found, what is right)."""
    sentences = [TaggedSentence(tuple(f.split()), tuple(r.split())) for f, r in pairs]
    return Evaluator(Oracle(), task, 10_000).gold_words(sentences, "made", "test", case)


def test_accuracy_is_the_share_of_right_tags():
    found = measure("tag", ("O B-PER", "O O"), ("O", "O"))
    assert (found.metric, found.value) == ("accuracy", pytest.approx(2 / 3))
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


def test_words_are_measured_in_other_case_too():
    assert measure("ner", ("Jane", "B-PER")).value == 1
    lower = measure("ner", ("Jane", "B-PER"), case=", lower-cased")
    assert (lower.value, lower.scheme) == (
        0,
        "gold words, lower-cased, strict IOB2, entity level",
    )


def raw_text(text, words, lengths, tags):
    starts, end = [], 0
    for word in words:
        starts.append(text.index(word, end))
        end = starts[-1] + len(word)
    ends = [start + len(word) for start, word in zip(starts, words, strict=True)]
    return RawText(text, np.array(starts), np.array(ends), offsets_of(lengths), tags)


def test_from_raw_text_errors_of_the_tokenizer_count():
    # the tokenizer parts "Bob's" and finds two sentences; this gold does neither
    raw = raw_text(
        "Jane ran. Bob's dog ran.",
        ["Jane", "ran", ".", "Bob's", "dog", "ran", "."],
        [7],
        ["B-PER", "O", "O", "B-PER", "O", "O", "O"],
    )
    words, sentences, entities = Evaluator(Oracle(), "ner", 10_000).raw_text(raw, "made", "dev")
    assert (words.metric, words.precision, words.recall) == ("word_f1", 6 / 8, 6 / 7)
    assert (sentences.metric, sentences.value) == ("sentence_f1", 0)
    assert (entities.metric, entities.value) == ("entity_f1", 1 / 2)


def test_from_raw_text_a_word_counts_with_its_tag():
    raw = raw_text("Jane O", ["Jane", "O"], [2], ["B-PER", "B-ORG"])
    _, sentences, tagged = Evaluator(Oracle(), "tag", 10_000).raw_text(raw, "made", "dev")
    assert sentences.value == 1
    assert (tagged.metric, tagged.value) == ("tagged_word_f1", 1 / 2)
