"""Tags that are left out before decoding: none that a best path has, and no answer changes."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from service.decoding import ChainScores, Transitions, best_paths, scores, sparse
from service.errors import NoValidPath, ScoresError
from service.text.tokens import by_step
from tests.made_chains import chain, quarters, quarters_or_forbidden, random_scores, scored_paths

scales = st.sampled_from([1, 4, 16])  # the larger, the fewer tags are left


@contextmanager
def for_few_tags() -> Iterator[None]:
    """Tags are left out however few they are, and however little is gained."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scores, "_MANY_TAGS", 1)
        patch.setattr(sparse, "_FEW_ARCS", 0)
        yield


def made_again(chains: ChainScores, scale: int = 1) -> ChainScores:
    """The same chains, with emissions that tell more."""
    around = chains.transitions
    transitions = Transitions(around.between, around.start, around.end)
    return ChainScores(chains.emissions * scale, transitions, chains.offsets)


def decoded(chains: ChainScores) -> list[int] | int:
    """The tags, or the sentence that has no path."""
    try:
        return best_paths(chains).tolist()
    except NoValidPath as error:
        return error.sentence


@given(random_scores(quarters_or_forbidden), scales)
def test_paths_are_those_of_all_tags(chains: ChainScores, scale: int) -> None:
    expected = decoded(made_again(chains, scale))
    with for_few_tags():
        assert decoded(made_again(chains, scale)) == expected


@given(random_scores(quarters), scales)
def test_no_tag_of_a_best_path_is_left_out(chains: ChainScores, scale: int) -> None:
    with for_few_tags():
        chains = made_again(chains, scale)
    tags = chains.emissions.shape[1]
    assume(tags > 1)
    assert chains.transitions.handicap is not None
    as_they_come = np.arange(len(chains.emissions))
    cells, _ = sparse._left(chains.emissions, chains.transitions.handicap, as_they_come)
    left = set(cells.tolist())
    for sentence, first in enumerate(chains.offsets[:-1].tolist()):
        paths = scored_paths(chains, sentence)
        best = max(total for _, total in paths)
        for path in (path for path, total in paths if total == best):
            assert {(first + t) * tags + tag for t, tag in enumerate(path)} <= left


def test_of_many_tags_few_are_left() -> None:
    rng = np.random.default_rng(1)
    chains = chain(
        50 * rng.normal(size=(30, 40)), rng.normal(size=(40, 40)), offsets=[0, 12, 12, 30]
    )
    sentence_of, step, active = by_step(chains.offsets)
    token_of = chains.offsets[sentence_of] + step
    handicap = chains.transitions.handicap
    assert handicap is not None
    lattice = sparse.sparse_lattice(chains.emissions, handicap, token_of, active)
    assert lattice is not None
    assert 30 <= len(lattice.tags) < 100


def test_where_neighbours_decide_all_tags_are_looked_at() -> None:
    rng = np.random.default_rng(1)
    chains = chain(rng.normal(size=(9, 40)), 50 * rng.normal(size=(40, 40)), offsets=[0, 4, 9])
    handicap = chains.transitions.handicap
    assert handicap is not None
    sentence_of, step, active = by_step(chains.offsets)
    token_of = chains.offsets[sentence_of] + step
    assert sparse.sparse_lattice(chains.emissions, handicap, token_of, active) is None
    alone = [chain(chains.emissions[a:b], chains.transitions.between) for a, b in ((0, 4), (4, 9))]
    assert best_paths(chains).tolist() == [tag for each in alone for tag in best_paths(each)]


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_score_that_is_none_is_named_by_its_sentence(wrong: float) -> None:
    emissions = 50 * np.random.default_rng(1).normal(size=(6, 40))
    emissions[4, 7] = wrong
    with pytest.raises(ScoresError, match="sentence 1"):
        best_paths(chain(emissions, np.zeros((40, 40)), offsets=[0, 3, 6]))


def test_a_sentence_without_a_path_is_named() -> None:
    emissions = 50 * np.random.default_rng(1).normal(size=(6, 40))
    emissions[4] = -np.inf
    with pytest.raises(NoValidPath) as caught:
        best_paths(chain(emissions, np.zeros((40, 40)), offsets=[0, 3, 6]))
    assert caught.value.sentence == 1
