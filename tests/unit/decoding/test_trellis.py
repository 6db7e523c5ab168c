"""The trellis that is shown: what it says is true of the chain, and leads to the best path."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.decoding import NOWHERE, best_paths, bioes_constraints, lay_open, viterbi_cells
from service.text.bioes import bio_of
from tests.made_chains import chain, quarters, random_scores

STATES = ["O", "B-X", "I-X", "E-X", "S-X"]
TAGS = ["O", "B-X", "I-X"]
FOLDED = [bio_of(state) for state in STATES]


@st.composite
def bioes_scores(draw):
    """Sentences over the states of one label, of which only whole spans are allowed."""
    lengths = draw(st.lists(st.integers(0, 4), max_size=3))
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(int)
    rules = bioes_constraints(STATES)

    def array(*shape):
        size = int(np.prod(shape))
        return np.array(draw(st.lists(quarters, min_size=size, max_size=size))).reshape(shape)

    return chain(
        array(int(offsets[-1]), 5),
        array(5, 5) + rules.transitions,
        array(5) + rules.start,
        array(5) + rules.end,
        offsets,
    )


def prefixes(scores, first, token):
    """Every way through the states to a token, and its score."""
    for path in itertools.product(range(len(scores.transitions.start)), repeat=token - first + 1):
        total = scores.transitions.start[path[0]]
        total += sum(scores.emissions[first + t, state] for t, state in enumerate(path))
        total += sum(scores.transitions.between[pair] for pair in itertools.pairwise(path))
        yield path, total


def sentences(scores):
    return [(a, b) for a, b in itertools.pairwise(scores.offsets.tolist()) if a < b]


def followed(trellis, first, end):
    """The tags that the back-pointers lead along, from the last tag of the best path."""
    tags = [trellis.path[end - 1]]
    for token in range(end - 1, first, -1):
        tags.append(trellis.back_pointers[token, tags[-1]])
    return tags[::-1]


@given(random_scores(quarters))
def test_where_states_are_tags_it_is_the_decoder_s_own(scores):
    labels = [f"tag{k}" for k in range(len(scores.transitions.start))]
    trellis = lay_open(scores, labels)
    assert trellis.tags == tuple(labels)
    assert (trellis.cells == viterbi_cells(scores)).all()
    assert (trellis.emissions == scores.emissions).all()
    assert (trellis.path == best_paths(scores)).all()


@given(random_scores(quarters))
def test_a_cell_is_the_one_before_plus_transition_plus_emission(scores):
    trellis = lay_open(scores, range(len(scores.transitions.start)))
    firsts = [first for first, _ in sentences(scores)]
    for (token, tag), cell in np.ndenumerate(trellis.cells):
        before = trellis.back_pointers[token, tag]
        came = scores.transitions.start[tag]
        if token not in firsts:
            came = trellis.cells[token - 1, before] + scores.transitions.between[before, tag]
        assert cell == came + trellis.emissions[token, tag]
        assert (before == NOWHERE) == (token in firsts)


@given(bioes_scores())
def test_states_of_one_tag_are_one_cell_that_a_way_comes_to(scores):
    trellis = lay_open(scores, FOLDED)
    assert trellis.tags == ("O", "B-X", "I-X")
    for first, end in sentences(scores):
        for token in range(first, end):
            ways = [
                ([TAGS.index(FOLDED[state]) for state in path], total, path[-1])
                for path, total in prefixes(scores, first, token)
            ]
            best = {state: max(w for _, w, last in ways if last == state) for state in range(5)}
            for tag, cell in enumerate(trellis.cells[token]):
                if cell == -np.inf:
                    assert trellis.back_pointers[token, tag] == NOWHERE
                    continue
                before = trellis.back_pointers[token, tag]
                assert any(
                    total == cell == best[last]
                    and tags[-1] == tag
                    and (tags[-2] if len(tags) > 1 else NOWHERE) == before
                    and scores.emissions[token, last] == trellis.emissions[token, tag]
                    for tags, total, last in ways
                )
                if trellis.path[token] != tag:
                    assert cell == max(total for tags, total, _ in ways if tags[-1] == tag)


@given(
    st.one_of(
        bioes_scores().map(lambda s: (s, FOLDED)),
        random_scores(quarters).map(lambda s: (s, range(len(s.transitions.start)))),
    )
)
def test_back_pointers_lead_along_the_best_path_to_its_score(made):
    scores, labels = made
    trellis = lay_open(scores, labels)
    states = best_paths(scores)
    assert [trellis.tags[tag] for tag in trellis.path] == [labels[state] for state in states]
    for s, (first, end) in enumerate(itertools.pairwise(scores.offsets.tolist())):
        if first == end:
            assert trellis.scores[s] == 0
            continue
        assert followed(trellis, first, end) == trellis.path[first:end].tolist()
        last = trellis.cells[end - 1, trellis.path[end - 1]]
        assert trellis.scores[s] == last + scores.transitions.end[states[end - 1]]


def test_a_state_of_the_best_path_is_shown_though_another_of_its_tag_came_higher():
    rules = bioes_constraints(STATES)
    emissions = [[0, 1, 0, 0, 2], [0, 0, 0, 5, 0]]  # S-X is ahead until E-X makes it a B-X
    scores = chain(emissions, rules.transitions, rules.start, rules.end)
    trellis = lay_open(scores, FOLDED)
    assert trellis.path.tolist() == [1, 2]
    assert trellis.cells[0].tolist() == [0, 1, -np.inf]
    assert trellis.scores.tolist() == [6]


def test_tokens_whose_best_path_is_not_the_best_of_its_column():
    trellis = lay_open(chain([[0, 1], [5, 0], [0, 0]], [[0, -9], [-9, 0]]), "AB")
    assert [trellis.tags[tag] for tag in trellis.path] == ["A", "A", "A"]
    assert trellis.off_the_column_best().tolist() == [0]


@pytest.mark.parametrize("offsets", [[0], [0, 0]])
def test_no_words_have_no_trellis(offsets):
    trellis = lay_open(chain(np.zeros((0, 2)), np.zeros((2, 2)), offsets=offsets), "AB")
    assert trellis.cells.shape == trellis.back_pointers.shape == (0, 2)
    assert trellis.off_the_column_best().tolist() == []
