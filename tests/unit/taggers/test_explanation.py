"""What is said to explain a tag: it adds up to what the decoder had before it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.decoding import ChainScores, Constraints, Transitions, forward_backward
from service.taggers.bilstm_crf import BilstmCrfTagger
from service.taggers.crf import CrfTagger
from service.taggers.explanation import REQUEST, explanation_of
from service.text.tokens import Tokens
from tests.made_networks import read_network
from tests.unit.taggers.test_crf import GIVEN, TAGGER, words

SENTENCE = ["New", "York", "bank", "of", "badetion"]


def scored(sentences, tagger=TAGGER):
    tokens = Tokens.from_sentences(sentences)
    return tokens.words, tagger.score(tokens.words, tokens.sentence_offsets)


def candidates(explanation):
    """(token, candidate) of all."""
    for token, pair in enumerate(explanation.candidates):
        yield from ((token, candidate) for candidate in pair if candidate is not None)


@given(st.lists(words, max_size=4))
def test_the_weights_of_a_tag_and_its_runner_up_add_up_to_their_emissions(sentences):
    tokens, scores = scored(sentences)
    explanation = explanation_of(TAGGER, tokens, scores)
    assert len(explanation.candidates) == len(tokens)
    for token, candidate in candidates(explanation):
        total = sum(weight for _, weight in candidate.features)
        assert total == pytest.approx(scores.emissions[token, candidate.tag_id], abs=1e-4)
        sizes = [abs(weight) for _, weight in candidate.features]
        assert 0 not in sizes
        assert sizes == sorted(sizes, reverse=True)


def test_a_tag_comes_from_the_one_before_it_on_the_best_path_or_begins_the_sentence():
    tokens, scores = scored([SENTENCE, ["the", "bank"]])
    begin = Transitions(scores.transitions.between, np.array([1.0, 2.0, 3.0]), np.zeros(3))
    scores = ChainScores(scores.emissions, begin, scores.offsets)
    explanation = explanation_of(TAGGER, tokens, scores)
    path = explanation.trellis.path
    for token, candidate in candidates(explanation):
        if token in (0, 5):
            assert candidate.transition == candidate.tag_id + 1
        else:
            before = path[token - 1]
            assert candidate.transition == scores.transitions.between[before, candidate.tag_id]
    assert explanation.transitions is scores.transitions


@pytest.mark.parametrize("temperature", [0.3, 1.0, 5.0])
def test_the_runner_up_is_the_most_probable_of_the_others(temperature):
    tokens, scores = scored([SENTENCE])
    marginals = forward_backward(scores.tempered(temperature)).marginals
    explanation = explanation_of(TAGGER, tokens, scores, temperature)
    for row, (best, second) in zip(marginals, explanation.candidates, strict=True):
        left = {tag: p for tag, p in enumerate(row) if tag != best.tag_id}
        assert left[second.tag_id] == max(left.values())


def test_where_no_other_tag_is_possible_there_is_no_runner_up():
    only = Constraints(np.zeros((3, 3)), np.array([-np.inf, 0, -np.inf]), np.zeros(3))
    tagger = CrfTagger(GIVEN, only, 5)
    [(best, second)] = explanation_of(tagger, *scored([["the"]], tagger)).candidates
    assert (best.tag_id, second) == (1, None)


def test_what_a_request_adds_stands_among_the_features():
    tokens, scores = scored([SENTENCE])
    emissions = scores.emissions.astype(float)
    emissions[1] += [-np.inf, 0.0, 2.5]
    changed = ChainScores(emissions, scores.transitions, scores.offsets)
    found = explanation_of(TAGGER, tokens, changed)
    for token, candidate in candidates(found):
        weights = dict(candidate.features)
        added = weights.get(REQUEST, 0.0)
        assert added == pytest.approx({(1, 2): 2.5}.get((token, candidate.tag_id), 0.0), abs=1e-6)
        assert sum(weights.values()) == pytest.approx(emissions[token, candidate.tag_id], abs=1e-4)
    assert {c.tag_id for token, c in candidates(found) if token == 1} == {1, 2}


class Folding:
    """A tagger of states of which two bear the tag B."""

    labels = ("O", "B", "B")

    def score(self, words, sentence_offsets):
        free = Transitions(np.zeros((3, 3)), np.zeros(3), np.zeros(3))
        emissions = np.tile([0.0, 1.0, 2.0], (len(words), 1))
        return ChainScores(emissions, free, sentence_offsets)


def test_where_states_share_a_tag_the_trellis_is_of_tags_and_has_no_transitions():
    found = explanation_of(Folding(), *scored([["a", "b"]], Folding()))
    assert found.trellis.tags == ("O", "B")
    assert found.trellis.cells.tolist() == [[0, 2], [2, 4]]
    assert (found.transitions, found.candidates) == (None, None)


def test_a_tagger_without_features_has_its_trellis_and_its_transitions():
    network = BilstmCrfTagger(read_network("ner-words"), Constraints.none(5), 10)
    tokens, scores = scored([["mr", "Bade"]], network)
    found = explanation_of(network, tokens, scores)
    assert found.trellis.tags == network.labels
    assert found.transitions is scores.transitions
    assert found.candidates is None
