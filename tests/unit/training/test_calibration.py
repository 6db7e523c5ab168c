"""Calibration, held against figures worked out by hand and against probabilities that are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.decoding import ChainScores, Transitions
from service.text.conll import TaggedSentence
from service.training.calibration import calibration_error, reliability
from service.training.temperature import fit_temperature


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
    """Says of each word *a* or *b* with log odds of its weight, `factor` times too sure."""

    labels = ("A", "B", "B")  # B has two states, of which one is never

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
