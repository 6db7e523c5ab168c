"""The decoder, held against enumeration of all paths."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.decoding import ChainScores, Transitions, best_paths, bio_constraints, viterbi_cells
from service.errors import NoValidPath, ScoresError
from tests.made_chains import (
    chain,
    path_score,
    quarters,
    quarters_or_forbidden,
    random_scores,
    scored_paths,
)


def best_by_enumeration(scores, sentence):
    """The highest score of a sentence's paths, and every path that has it."""
    paths = scored_paths(scores, sentence)
    best = max(total for _, total in paths)
    return best, [path for path, total in paths if total == best]


@given(random_scores(quarters))
def test_the_best_path_scores_as_high_as_any_path(scores):
    paths = best_paths(scores)
    for s, (first, end) in enumerate(itertools.pairwise(scores.offsets)):
        if first < end:
            assert path_score(scores, s, paths[first:end]) == best_by_enumeration(scores, s)[0]


@given(random_scores(quarters_or_forbidden))
def test_a_path_is_never_one_that_is_forbidden(scores):
    best = [
        best_by_enumeration(scores, s)[0]
        for s, (first, end) in enumerate(itertools.pairwise(scores.offsets))
        if first < end
    ]
    if -np.inf in best:
        with pytest.raises(NoValidPath):
            best_paths(scores)
    else:
        paths = best_paths(scores)
        found = [
            path_score(scores, s, paths[first:end])
            for s, (first, end) in enumerate(itertools.pairwise(scores.offsets))
            if first < end
        ]
        assert found == best


@given(random_scores(st.integers(0, 1).map(float)))
def test_ties_go_to_the_lowest_id_from_the_last_token_backwards(scores):
    paths = best_paths(scores)
    for s, (first, end) in enumerate(itertools.pairwise(scores.offsets)):
        if first < end:
            _, ties = best_by_enumeration(scores, s)
            assert tuple(paths[first:end]) == min(ties, key=lambda path: path[::-1])


@given(random_scores(quarters), st.randoms())
def test_the_order_of_the_sentences_in_a_batch_changes_nothing(scores, random):
    sentences = [range(a, b) for a, b in itertools.pairwise(scores.offsets)]
    order = list(range(len(sentences)))
    random.shuffle(order)
    tokens = [m for s in order for m in sentences[s]]
    offsets = np.concatenate(([0], np.cumsum([len(sentences[s]) for s in order])))
    shuffled = ChainScores(scores.emissions[tokens], scores.transitions, offsets)
    assert (best_paths(shuffled) == best_paths(scores)[tokens]).all()


@given(random_scores(quarters_or_forbidden))
def test_a_sentence_alone_is_decoded_as_in_a_batch(scores):
    alone = [
        ChainScores(scores.emissions[first:end], scores.transitions, np.array([0, end - first]))
        for first, end in itertools.pairwise(scores.offsets)
    ]
    try:
        expected = np.concatenate([np.empty(0, int), *map(best_paths, alone)])
    except NoValidPath:
        with pytest.raises(NoValidPath):
            best_paths(scores)
    else:
        assert best_paths(scores).tolist() == expected.tolist()


@pytest.mark.parametrize("forbidden", [0.0, 0.02, 0.5])
@pytest.mark.parametrize("spread", [1, 10, 50])
@pytest.mark.parametrize(("tags", "sentences"), [(20, 100), (7, 1000)])
def test_a_large_batch_is_decoded_as_its_sentences_are(tags, sentences, spread, forbidden):
    # Cells of few tags lie otherwise than those of many; of many tags those predecessors are left
    # out that cannot win, in a large batch.
    rng = np.random.default_rng(spread)
    length = 5
    between = rng.integers(-12, 13, (tags, tags)) / 4
    between[rng.random(between.shape) < forbidden] = -np.inf
    emissions = rng.integers(-12, 13, (sentences * length, tags)) * spread / 4
    together = chain(emissions, between, offsets=np.arange(sentences + 1) * length)
    alone = [
        best_paths(chain(emissions[first : first + length], between))
        for first in range(0, len(emissions), length)
    ]
    assert best_paths(together).tolist() == np.concatenate(alone).tolist()
    cells = [
        viterbi_cells(chain(emissions[first : first + length], between))
        for first in range(0, len(emissions), length)
    ]
    assert (viterbi_cells(together) == np.concatenate(cells)).all()


@given(st.data())
def test_under_bio_constraints_every_path_is_strict_iob2(data):
    labels = ("B-PER", "O", "I-PER", "I-ORG", "B-ORG")
    tokens = data.draw(st.integers(1, 4))
    numbers = data.draw(st.lists(quarters, min_size=5 * tokens, max_size=5 * tokens))
    constraints = bio_constraints(labels)
    scores = chain(
        np.array(numbers).reshape(tokens, 5),
        constraints.transitions,
        constraints.start,
        constraints.end,
    )
    path = best_paths(scores)
    assert path_score(scores, 0, path) == best_by_enumeration(scores, 0)[0]
    before = "O"
    for tag in (labels[i] for i in path):
        assert tag[0] != "I" or before[1:] == tag[1:]
        before = tag


def test_one_token_is_decoded_by_start_emission_and_end():
    scores = chain([[1, 1, 1]], np.zeros((3, 3)), start=[0, 1, 0], end=[0, 0, 3])
    assert best_paths(scores).tolist() == [2]


def test_one_tag_is_decoded_to_itself():
    assert best_paths(chain(np.zeros((3, 1)), [[-1]])).tolist() == [0, 0, 0]


@pytest.mark.parametrize("offsets", [[0], [0, 0], [0, 0, 0]])
def test_no_token_has_an_empty_path(offsets):
    assert best_paths(chain(np.zeros((0, 2)), np.zeros((2, 2)), offsets=offsets)).tolist() == []


def test_a_sentence_without_a_valid_path_raises_and_is_named():
    emissions = [[0, 0], [-np.inf, -np.inf], [0, 0]]
    with pytest.raises(NoValidPath, match="sentence 1") as caught:
        best_paths(chain(emissions, np.zeros((2, 2)), offsets=[0, 1, 2, 3]))
    assert caught.value.sentence == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("token", [0, 1, 2])
def test_nan_and_plus_infinity_in_an_emission_raise(bad, token):
    emissions = np.zeros((4, 2))
    emissions[token + 1, 1] = bad
    with pytest.raises(ScoresError, match=re.escape("sentence 1")):
        best_paths(chain(emissions, np.zeros((2, 2)), offsets=[0, 1, 4]))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["between", "start", "end"])
def test_nan_and_plus_infinity_elsewhere_raise_and_are_named(bad, name):
    arrays = {"between": np.zeros((2, 2)), "start": np.zeros(2), "end": np.zeros(2)}
    arrays[name].flat[0] = bad
    with pytest.raises(ScoresError, match=name):
        Transitions(**arrays)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"transitions": np.zeros((2, 3))}, "between"),
        ({"transitions": np.zeros((3, 3))}, "start"),
        ({"start": np.zeros(3)}, "start"),
        ({"end": np.zeros(1)}, "end"),
        ({"offsets": [0, 3]}, "offsets"),
        ({"offsets": [0, 2, 1, 2]}, "offsets"),
        ({"offsets": [1, 2]}, "offsets"),
        ({"offsets": []}, "offsets"),
    ],
)
def test_shapes_that_do_not_fit_raise_and_are_named(arguments, named):
    with pytest.raises(ScoresError, match=named):
        chain(np.zeros((2, 2)), **{"transitions": np.zeros((2, 2)), **arguments})


def test_scores_are_not_changed():
    scores = chain([[1, 2], [3, 4]], [[0, 1], [1, 0]])
    before = scores.emissions.copy()
    best_paths(scores)
    assert (scores.emissions == before).all()


def test_a_long_sentence_is_decoded_exactly():
    # 200,000 steps of adding up would lose quarters in single precision
    emissions = np.tile([[1000.0, 999.75]], (200_000, 1)).astype(np.float32)
    assert not best_paths(chain(emissions, np.zeros((2, 2)))).any()


def test_plus_infinity_beside_what_is_forbidden_is_named_and_warns_of_nothing():
    between = np.full((3, 3), -np.inf)
    between[0] = 0
    emissions = np.zeros((4, 3))
    emissions[1, 0] = np.inf
    emissions[0, 1] = np.inf
    with pytest.raises(ScoresError, match="sentence 0"):
        best_paths(chain(emissions, between, offsets=[0, 2, 4]))
