"""Scores at another temperature: other probabilities, the same paths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.decoding import ChainScores, Inference, Transitions, best_paths, infer
from tests.made_chains import path_score, quarters, random_scores, scored_paths

temperatures = st.sampled_from([0.25, 0.5, 1, 2, 4])  # that divide quarters exactly


@given(random_scores(quarters), temperatures)
def test_the_score_of_every_path_is_divided(scores, temperature):
    tempered = scores.tempered(temperature)
    for sentence in range(len(scores.offsets) - 1):
        for path, score in scored_paths(scores, sentence):
            assert path_score(tempered, sentence, path) == score / temperature


@given(random_scores(quarters), temperatures)
def test_no_path_changes(scores, temperature):
    assert (best_paths(scores.tempered(temperature)) == best_paths(scores)).all()


def test_what_is_forbidden_stays_so_and_what_was_made_at_load_fits():
    rng = np.random.default_rng(0)
    between = rng.normal(size=(20, 20))
    between[3, 4] = -np.inf
    start, end = rng.normal(size=(2, 20))
    start[5] = -np.inf
    around = Transitions(between, start, end)
    scores = ChainScores(rng.normal(size=(2, 20)), around, np.array([0, 2]))
    found = scores.tempered(1.5).transitions
    expected = Transitions(between / 1.5, start / 1.5, end / 1.5)
    for name in ("between", "start", "end", "into"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-12)
    assert found.handicap is not None
    assert expected.handicap is not None
    np.testing.assert_allclose(found.handicap, expected.handicap, atol=1e-4)  # more than rounding
    assert (around.between == between).all()


@given(random_scores(quarters), temperatures)
def test_probabilities_are_those_of_the_divided_scores_and_tags_are_not(scores, temperature):
    labels = tuple(f"tag{k}" for k in range(len(scores.transitions.start)))
    wanted = Inference(confidences=True, marginals=True, n_best=4)
    found = infer(scores, labels, wanted, spans=False, temperature=temperature)
    plain = infer(scores, labels, wanted, spans=False, temperature=1.0)
    divided = infer(scores.tempered(temperature), labels, wanted, spans=False, temperature=1.0)
    assert found.confidences == pytest.approx(divided.confidences)
    assert found.marginals == pytest.approx(divided.marginals)
    assert (found.tag_ids == plain.tag_ids).all()
    for mine, same, other in zip(found.n_best, plain.n_best, divided.n_best, strict=True):
        assert [s.tag_ids.tolist() for s in mine] == [s.tag_ids.tolist() for s in same]
        assert [s.log_prob for s in mine] == pytest.approx([s.log_prob for s in other], abs=1e-9)


def test_a_long_sentence_of_single_precision_does_not_gather_the_rounding_of_the_temperature():
    tokens = 10_000
    around = Transitions(*(np.zeros(shape, np.float32) for shape in ((1, 1), 1, 1)))
    emissions = np.full((tokens, 1), -7, np.float32)
    scores = ChainScores(emissions, around, np.array([0, tokens]))
    found = infer(scores, ("only",), Inference(n_best=1), spans=False, temperature=1.66)
    [[sequence]] = found.n_best
    assert sequence.log_prob == pytest.approx(0, abs=1e-6)  # there is no other path
