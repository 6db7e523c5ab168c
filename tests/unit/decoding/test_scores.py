"""Scores at another temperature: other probabilities, the same paths."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service.decoding import ChainScores, Transitions, best_paths
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
    assert found.lead is not None
    for name in ("between", "start", "end", "into", "lead"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-12)
    assert (around.between == between).all()
