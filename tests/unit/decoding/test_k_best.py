"""The k best paths, held against enumeration of all paths."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.decoding import best_paths, bioes_constraints, k_best_paths
from service.errors import NoValidPath, ScoresError
from service.text.bioes import bio_of
from tests.made_chains import (
    chain,
    path_score,
    quarters_or_forbidden,
    random_scores,
    scored_paths,
)

ks = st.integers(1, 20)


def k_best(scores, k):
    return k_best_paths(scores, k, np.arange(scores.emissions.shape[1]))


@given(random_scores(quarters_or_forbidden), ks)
def test_they_are_different_and_score_as_the_best_of_all_paths_do(scores, k):
    totals = [
        sorted((total for _, total in scored_paths(scores, s) if total > -np.inf), reverse=True)
        for s in range(len(scores.offsets) - 1)
    ]
    if [] in totals:
        with pytest.raises(NoValidPath, match=f"sentence {totals.index([])}"):
            k_best(scores, k)
        return
    for s, (expected, found) in enumerate(zip(totals, k_best(scores, k), strict=True)):
        assert [path.score for path in found] == expected[:k]
        assert [path_score(scores, s, path.tag_ids) for path in found] == expected[:k]
        assert len({tuple(path.tag_ids.tolist()) for path in found}) == len(found)


@given(random_scores(st.sampled_from([0.0, 1.0, -np.inf])), ks)
def test_the_first_is_the_best_path_also_among_equals(scores, k):
    try:
        expected = best_paths(scores)
    except NoValidPath:
        return
    firsts = [paths[0].tag_ids for paths in k_best(scores, k)]
    assert np.concatenate([np.empty(0, int), *firsts]).tolist() == expected.tolist()


@given(random_scores(st.sampled_from([0.0, 1.0])), ks)
def test_asking_for_more_changes_none_of_the_first(scores, k):
    for few, more in zip(k_best(scores, k), k_best(scores, k + 3), strict=True):
        tag_ids = [path.tag_ids.tolist() for path in more]
        assert [path.tag_ids.tolist() for path in few] == tag_ids[:k]


@given(
    random_scores(quarters_or_forbidden),
    ks,
    st.lists(st.integers(0, 2), min_size=4, max_size=4),
)
def test_of_paths_of_the_same_labels_the_best_stands_for_all(scores, k, label_ids):
    label_ids = np.array(label_ids[: scores.emissions.shape[1]])
    try:
        best_paths(scores)
    except NoValidPath:
        return
    for s, found in enumerate(k_best_paths(scores, k, label_ids)):
        best = {}
        for path, total in scored_paths(scores, s):
            labels = tuple(label_ids[list(path)].tolist())
            best[labels] = max(total, best.get(labels, -np.inf))
        expected = sorted((total for total in best.values() if total > -np.inf), reverse=True)
        assert [path.score for path in found] == expected[:k]
        labels = [tuple(label_ids[path.tag_ids].tolist()) for path in found]
        assert [best[each] for each in labels] == expected[:k]


def test_under_strict_bioes_a_sequence_of_bio_tags_has_one_path():
    states = ("O", "B-A", "I-A", "E-A", "S-A", "B-B", "I-B", "E-B", "S-B")
    constraints = bioes_constraints(states)
    scores = chain(
        np.zeros((4, len(states))), constraints.transitions, constraints.start, constraints.end
    )
    paths = [path for path, total in scored_paths(scores, 0) if total == 0]
    assert len({tuple(bio_of(states[k]) for k in path) for path in paths}) == len(paths) > 20


def test_many_tags_and_tokens():
    rng = np.random.default_rng(0)
    scores = chain(rng.normal(0, 3, (70, 49)), rng.normal(0, 3, (49, 49)))
    [found] = k_best(scores, 20)
    totals = [path_score(scores, 0, path.tag_ids.tolist()) for path in found]
    assert [path.score for path in found] == pytest.approx(totals)
    assert totals == sorted(totals, reverse=True)
    # Whatever is one step away from one of them is no better than the last, unless it is there.
    there = {tuple(path.tag_ids.tolist()) for path in found}
    for path, token, tag in itertools.product(list(there)[:3], range(70), range(49)):
        other = (*path[:token], tag, *path[token + 1 :])
        assert other in there or path_score(scores, 0, other) <= totals[-1]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_plus_infinity_raise(bad):
    emissions = np.zeros((3, 2))
    emissions[1, 1] = bad
    with pytest.raises(ScoresError, match="emissions"):
        k_best(chain(emissions, np.zeros((2, 2))), 1)


def test_scores_are_not_changed():
    scores = chain([[1, 2], [3, 4]], [[0, 1], [1, 0]])
    before = scores.emissions.copy()
    k_best(scores, 3)
    assert (scores.emissions == before).all()
