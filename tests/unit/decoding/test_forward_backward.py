"""Probabilities, held against enumeration of all paths."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.decoding import (
    ChainScores,
    bio_constraints,
    bioes_constraints,
    forward_backward,
)
from service.errors import NoValidPath, ScoresError
from service.text.bioes import bio_of
from service.text.spans import spans_of_tags
from tests.made_chains import (
    BIO,
    BIOES,
    chain,
    quarters,
    quarters_or_forbidden,
    random_scores,
    scored_paths,
)


def enumerated(scores, sentence):
    """Every path of a sentence with its probability, and the log of the sum of all."""
    paths = scored_paths(scores, sentence)
    partition = np.logaddexp.reduce([total for _, total in paths])
    return [(path, math.exp(total - partition)) for path, total in paths], partition


# Beside the large ones the others would be lost, were they not added up as logs.
far_apart = st.sampled_from([0.0, -0.25, 900.0, -900.0, -20_000.0, -np.inf])


@given(st.one_of(random_scores(quarters_or_forbidden), random_scores(far_apart)))
def test_probabilities_are_shares_of_all_paths(scores):
    tags = scores.emissions.shape[1]
    sentences = list(itertools.pairwise(scores.offsets.tolist()))
    best = [max(total for _, total in scored_paths(scores, s)) for s in range(len(sentences))]
    if -np.inf in best:
        with pytest.raises(NoValidPath, match=f"sentence {best.index(-np.inf)}"):
            forward_backward(scores)
        return
    posterior = forward_backward(scores)
    for s, (first, end) in enumerate(sentences):
        paths, partition = enumerated(scores, s)
        assert posterior.log_partition[s] == pytest.approx(partition, abs=1e-9)
        expected, moves = np.zeros((end - first, tags)), np.zeros((tags, tags))
        for path, probability in paths:
            expected[np.arange(len(path)), list(path)] += probability
            for move in itertools.pairwise(path):
                moves[move] += probability
        assert posterior.marginals[first:end] == pytest.approx(expected, abs=1e-9)
        assert posterior.expected_moves()[s] == pytest.approx(moves, abs=1e-9)


@given(random_scores(quarters), st.permutations([0, 1, 2, 3]), st.integers(1, 4))
def test_probabilities_of_labels_are_sums_over_the_states_that_bear_them(scores, ids, labels):
    _, label_ids = np.unique(
        np.array(ids[: scores.emissions.shape[1]]) % labels, return_inverse=True
    )
    posterior = forward_backward(scores)
    found = posterior.label_marginals(label_ids)
    assert found.shape[1] == label_ids.max() + 1
    for label, column in enumerate(found.T):
        states = np.flatnonzero(label_ids == label)
        assert column == pytest.approx(posterior.marginals[:, states].sum(axis=1))
    assert ((found >= 0) & (found <= 1)).all()
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("states", [BIO, BIOES])
@given(data=st.data())
def test_the_probability_of_a_span_is_that_of_the_paths_that_have_it(states, data):
    scores, labels = labelled_scores(data.draw, states)
    every = [
        (label, first + start, first + end)
        for first, after in itertools.pairwise(scores.offsets.tolist())
        for start, end in itertools.combinations(range(after - first + 1), 2)
        for label in "AB"
    ]
    begins = [[tag == f"B-{label}" for tag in labels] for label, _, _ in every]
    continues = [[tag == f"I-{label}" for tag in labels] for label, _, _ in every]
    found = forward_backward(scores).span_probabilities(
        np.array([start for _, start, _ in every], dtype=np.int64),
        np.array([end for _, _, end in every], dtype=np.int64),
        np.array(begins, dtype=bool).reshape(-1, len(labels)),
        np.array(continues, dtype=bool).reshape(-1, len(labels)),
    )
    expected = dict.fromkeys(every, 0.0)
    for s, first in enumerate(scores.offsets[:-1].tolist()):
        for path, probability in enumerated(scores, s)[0]:
            if probability:
                for span in spans_of_tags([labels[k] for k in path]):
                    place = (span.label, first + span.token_start, first + span.token_end)
                    expected[place] += probability
    assert found == pytest.approx(list(expected.values()), abs=1e-9)
    assert ((found >= 0) & (found <= 1)).all()


def labelled_scores(draw, states):
    """Sentences of up to three tokens under the constraints of these states, and their labels."""
    bioes = states is BIOES
    constraints = (bioes_constraints if bioes else bio_constraints)(states)
    lengths = draw(st.lists(st.integers(0, 3), max_size=3))
    size = sum(lengths) * len(states)
    emissions = draw(st.lists(quarters, min_size=size, max_size=size))
    scores = chain(
        np.array(emissions).reshape(-1, len(states)),
        constraints.transitions + 0.25 * np.arange(len(states)),
        constraints.start,
        constraints.end,
        [0, *itertools.accumulate(lengths)],
    )
    return scores, tuple(map(bio_of, states)) if bioes else states


@given(random_scores(quarters))
def test_a_sentence_alone_has_the_probabilities_that_it_has_in_a_batch(scores):
    together = forward_backward(scores)
    for s, (first, end) in enumerate(itertools.pairwise(scores.offsets)):
        alone = forward_backward(
            ChainScores(scores.emissions[first:end], scores.transitions, np.array([0, end - first]))
        )
        assert alone.marginals == pytest.approx(together.marginals[first:end], abs=1e-12)
        assert alone.log_partition == pytest.approx(together.log_partition[s : s + 1])


def test_many_tags_are_added_up_in_parts():
    # All scores far apart, so that every sum is one of logs.
    rng = np.random.default_rng(0)
    scores = chain(
        rng.normal(0, 500, (400, 40)), rng.normal(0, 500, (40, 40)), offsets=np.arange(0, 401, 2)
    )
    found = forward_backward(scores)
    pairs = scores.emissions[::2, :, None] + scores.transitions.between  # (200, K, K)
    pairs += scores.emissions[1::2, None, :]
    assert found.log_partition == pytest.approx(np.logaddexp.reduce(pairs.reshape(200, -1), axis=1))


def test_a_long_sentence_loses_no_digits():
    # Two independent coins a token, however large the scores: 20,000 tokens of some 10,000 each.
    emissions = np.tile([[10_000.0, 10_000.0 + math.log(3)]], (20_000, 1))
    posterior = forward_backward(chain(emissions, np.zeros((2, 2))))
    assert np.allclose(posterior.marginals, [0.25, 0.75], rtol=0, atol=1e-10)
    expected = 20_000 * (10_000 + math.log(4))
    assert posterior.log_partition[0] == pytest.approx(expected, rel=1e-12)
    start, end = np.array([0]), np.array([20_000])
    all_states = np.ones((1, 2), dtype=bool)
    assert posterior.span_probabilities(start, end, all_states, all_states) == pytest.approx(1)


def test_no_tokens_have_no_probabilities():
    posterior = forward_backward(chain(np.zeros((0, 2)), np.zeros((2, 2)), offsets=[0, 0]))
    assert posterior.marginals.shape == (0, 2)
    assert posterior.log_partition.tolist() == [0]
    none = np.empty(0, dtype=np.int64)
    flags = np.empty((0, 2), dtype=bool)
    assert posterior.span_probabilities(none, none, flags, flags).tolist() == []


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_plus_infinity_raise(bad):
    emissions = np.zeros((3, 2))
    emissions[1, 1] = bad
    with pytest.raises(ScoresError, match="emissions"):
        forward_backward(chain(emissions, np.zeros((2, 2))))


def test_scores_are_not_changed():
    scores = chain([[1, 2], [3, 4]], [[0, 1], [1, 0]])
    before = scores.emissions.copy()
    forward_backward(scores)
    assert (scores.emissions == before).all()
