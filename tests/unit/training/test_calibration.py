"""Calibration, held against figures worked out by hand and against probabilities that are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.decoding import ChainScores, Transitions, bio_constraints
from service.store.manifest import Manifest, Score
from service.text.conll import TaggedSentence
from service.training.calibration import Calibration, calibration_error, reliability
from service.training.recipe import Corpus
from service.training.temperature import calibrated, fit_temperature
from tests.made_corpora import write_columns


def error(confidences, right, **options):
    return calibration_error(reliability(np.array(confidences), np.array(right), **options))


def test_the_error_is_the_weighted_mean_of_the_gaps():
    # Five bins. (0.2, 0.4]: says 0.3, right 1/2, gap 0.2. (0.8, 1]: says 0.95, right 2/3,
    # gap 0.28333. 2/5 * 0.2 + 3/5 * 0.28333 = 0.25.
    found = error([0.25, 0.35, 0.9, 0.95, 1.0], [True, False, True, True, False], bins=5)
    assert found == pytest.approx(0.25)


def test_bins_are_fifteen_of_equal_width_and_have_their_upper_edge():
    bins = reliability(np.array([0.0, 1 / 15, 0.07, 1.0]), np.array([False, True, True, True]))
    assert len(bins) == 15
    assert [(b.count, b.accuracy) for b in bins if b.count] == [(2, 0.5), (1, 1.0), (1, 1.0)]
    assert bins[0].confidence == pytest.approx(1 / 30)
    assert (bins[1].low, bins[1].high) == pytest.approx((1 / 15, 2 / 15))


def test_where_nothing_is_predicted_there_is_no_error():
    assert error(np.zeros(0), np.zeros(0, dtype=bool)) is None


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=50))
def test_the_error_is_a_share_and_no_prediction_is_lost(predictions):
    confidences, right = map(np.array, zip(*predictions, strict=True))
    bins = reliability(confidences, right)
    assert sum(b.count for b in bins) == len(predictions)
    assert sum(b.count * b.accuracy for b in bins) == pytest.approx(right.sum())
    assert 0 <= calibration_error(bins) <= 1


class Overconfident:
    """Says of each word, a number, whether it is A, with these log odds times a factor."""

    labels = ("A", "B", "B")  # B has two states, of which one is never
    probabilistic = True

    def __init__(self, factor):
        self._factor = factor

    def score(self, words, sentence_offsets):
        never = np.full(len(words), -np.inf)
        odds = self._factor * np.array([float(word) for word in words])
        emissions = np.stack([odds, np.zeros(len(words)), never], axis=1)
        free = Transitions(np.zeros((3, 3)), np.zeros(3), np.zeros(3))
        return ChainScores(emissions, free, sentence_offsets)


def sentences(odds, count=2_000):
    """Sentences of one word, the log odds, whose tags come as often as these odds say."""
    made = []
    for log_odds in odds:
        of_a = round(count / (1 + np.exp(-log_odds)))
        words = (str(log_odds),)
        made += [TaggedSentence(words, ("A",))] * of_a
        made += [TaggedSentence(words, ("B",))] * (count - of_a)
    return made


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.5, 3.0])
def test_the_temperature_undoes_what_a_tagger_is_too_sure_by(factor):
    gold = sentences([-1.0, 0.5, 2.0])
    assert fit_temperature(Overconfident(factor), gold) == pytest.approx(factor, rel=0.01)


def test_tokens_with_a_tag_that_is_not_the_model_s_tell_nothing():
    gold = sentences([1.0, -2.0], count=500)
    strange = [TaggedSentence(("5.0", "1.0"), ("strange", "strange"))] * 300
    assert fit_temperature(Overconfident(2.0), gold + strange) == fit_temperature(
        Overconfident(2.0), gold
    )


def calibration(tagger, task="tag", temperature=1.0):
    return Calibration(tagger, task, 10_000, temperature)


def test_what_is_measured_is_the_probability_of_the_tag_that_is_found():
    # e^2 / (1 + e^2) = 0.88 says A, right 8 times of 10; 0.5 says A, the lower id, right once of 2
    gold = [TaggedSentence(("2.0",), ("A",))] * 8 + [TaggedSentence(("2.0",), ("B",))] * 2
    gold += [TaggedSentence(("0.0", "0.0"), ("A", "B"))]
    [found] = calibration(Overconfident(1.0)).gold_words(gold, "made", "dev")
    bins = [(b.count, b.confidence, b.accuracy) for b in found.bins if b.count]
    assert bins == [(2, 0.5, 0.5), (10, pytest.approx(0.880797), 0.8)]
    assert found.score.model_dump() == {
        "data": "made",
        "split": "dev",
        "metric": "token_ece",
        "scheme": "gold words, 15 bins of equal width",
        "value": 0.0673,  # 10/12 * 0.080797
    }


def test_a_temperature_mends_it():
    gold = sentences([-1.0, 0.5, 2.0])
    errors = [
        next(calibration(Overconfident(3.0), temperature=t).gold_words(gold, "", "dev")).error
        for t in (1.0, 3.0)
    ]
    assert errors[0] > 0.1
    assert errors[1] < 0.001


class Recogniser:
    """Finds a person of the words *Jane Lee*, half sure of each of both words."""

    labels = ("O", "B-PER", "I-PER")
    probabilistic = True

    def score(self, words, sentence_offsets):
        rows = {"Jane": [0.0, 0.001, -np.inf], "Lee": [0.0, -np.inf, 0.001]}
        emissions = np.array([rows.get(word, [0.0, -np.inf, -np.inf]) for word in words])
        rules = bio_constraints(self.labels)
        around = Transitions(rules.transitions, rules.start, rules.end)
        return ChainScores(emissions, around, sentence_offsets)


def test_of_entities_the_probability_of_the_whole_span_is_measured():
    # Of O O, B O and B I each has a third, so the span has a third, its first tag two thirds.
    gold = [TaggedSentence(("Jane", "Lee"), tags) for tags in (("B-PER", "I-PER"), ("O", "O"))]
    tokens, spans = calibration(Recogniser(), "ner").gold_words(gold, "made", "test")
    assert (tokens.metric, spans.metric) == ("token_ece", "span_ece")
    [found] = [b for b in spans.bins if b.count]
    assert (found.count, found.accuracy) == (2, 0.5)
    assert found.confidence == pytest.approx(1 / 3, abs=0.001)


def test_of_a_tagger_without_probabilities_nothing_is_measured():
    class Guess(Overconfident):
        probabilistic = False

    assert list(calibration(Guess(1.0)).gold_words(sentences([1.0], 2), "made", "dev")) == []


def manifest_of(*scores):
    return Manifest(
        format=1,
        name="xx-tag-made",
        version="1.0.0",
        description="",
        language="xx",
        task="tag",
        tagset="made",
        architecture="made",
        labels=("A", "B"),
        tokenizer="1",
        default=False,
        licence="none",
        sources=(),
        scores=scores,
        files={},
    )


@pytest.fixture
def corpus(tmp_path):
    write_columns(tmp_path / "dev.tsv", sentences([-1.0, 0.5, 2.0], count=500))
    write_columns(tmp_path / "test.tsv", sentences([1.0], count=500))
    return Corpus(
        name="Made", licence="", url="", format="columns", dev=("dev.tsv",), test=("test.tsv",)
    )


def test_a_manifest_gets_the_temperature_and_the_errors_with_it(corpus, tmp_path):
    other = Score(data="Made", split="dev", metric="accuracy", scheme="gold words", value=0.5)
    old = Score(data="Made", split="dev", metric="token_ece", scheme="old", value=0.9)
    tagger, splits = Overconfident(2.0), ("dev", "test")
    found = calibrated(manifest_of(other, old), tagger, [corpus], tmp_path, splits, 10_000)
    assert found.temperature == pytest.approx(2.0, rel=0.02)
    assert found.scores[0] == other
    assert [(s.split, s.metric) for s in found.scores[1:]] == [
        ("dev", "token_ece"),
        ("test", "token_ece"),
    ]
    assert all(s.value < 0.01 for s in found.scores[1:])
    assert calibrated(found, tagger, [corpus], tmp_path, splits, 10_000) == found


def test_where_there_is_no_dev_file_the_temperature_is_one(corpus, tmp_path):
    without = corpus.model_copy(update={"dev": ()})
    found = calibrated(manifest_of(), Overconfident(2.0), [without], tmp_path, ("dev",), 10_000)
    assert (found.temperature, found.scores) == (1.0, ())


def test_where_the_error_is_not_less_with_it_the_temperature_is_one(corpus, tmp_path):
    # 99 of 100 are sure and right as often as they say; one is sure and wrong, for which alone
    # the likelihood asks for a higher temperature.
    gold = [*sentences([4.0], count=5000), TaggedSentence(("90.0",), ("B",))]
    write_columns(tmp_path / "dev.tsv", gold)
    assert fit_temperature(Overconfident(1.0), gold) > 1.05
    found = calibrated(manifest_of(), Overconfident(1.0), [corpus], tmp_path, ("dev",), 10_000)
    assert found.temperature == 1.0
