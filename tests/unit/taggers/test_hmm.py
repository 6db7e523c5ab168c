import numpy as np
import pytest

from service.decoding import Constraints, best_paths
from service.taggers import Parameters
from service.taggers.hmm import HmmTagger, suffix_keys

LABELS = ("N", "V")


def parameters(**replaced):
    arrays = {
        "start": np.log([0.6, 0.4]),
        "transitions": np.log([[0.3, 0.7], [0.8, 0.2]]),
        "end": np.log([0.5, 0.5]),
        "emissions": np.log([[0.1, 0.2], [0.4, 0.3]]),
        "suffix_emissions": np.log([[0.5, 0.5], [0.2, 0.8], [0.9, 0.1]]),
    }
    vocabularies = {"words": ["fish", "can"], "suffixes": ["", "xed", "X"]}
    return Parameters(
        LABELS,
        {**arrays, **{k: v for k, v in replaced.items() if k in arrays}},
        {**vocabularies, **{k: v for k, v in replaced.items() if k in vocabularies}},
    )


@pytest.fixture
def tagger():
    return HmmTagger(parameters(), Constraints.none(2), 10)


def emissions(tagger, *words):
    return np.exp(tagger.score(list(words), np.array([0, len(words)])).emissions).tolist()


def test_a_known_word_has_its_own_emissions(tagger):
    assert emissions(tagger, "can") == [pytest.approx([0.4, 0.3])]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Can", [0.4, 0.3]),  # the same word in other case
        ("FISH", [0.1, 0.2]),
        ("boxed", [0.2, 0.8]),  # its longest known suffix
        (
            "Boxed",
            [0.9, 0.1],
        ),  # capitalised: another class, of which only the empty ending is known
        ("zap", [0.5, 0.5]),  # nothing known but the empty suffix
        ("\u200b", [0.5, 0.5]),
    ],
)
def test_an_unseen_word_has_those_of_its_other_case_or_of_its_longest_known_suffix(
    tagger, word, expected
):
    assert emissions(tagger, word) == [pytest.approx(expected)]


def test_its_scores_are_log_probabilities_of_words_and_tags(tagger):
    scores = tagger.score(["fish", "can"], np.array([0, 2]))
    assert best_paths(scores).tolist() == [1, 0]
    # P(V) P(fish | V) P(N | V) P(can | N) P(end | N), twice as likely as N V
    total = scores.transitions.start[1] + scores.emissions[0, 1]
    total += scores.transitions.between[1, 0]
    total += scores.emissions[1, 0] + scores.transitions.end[0]
    assert np.exp(total) == pytest.approx(0.4 * 0.2 * 0.8 * 0.4 * 0.5)


def test_suffixes_are_named_from_the_longest_to_the_empty_one():
    assert suffix_keys("running") == ["xunning", "xnning", "xning", "xing", "xng", "xg", "x", ""]
    assert suffix_keys("Ed") == ["Xed", "Xd", "X", ""]


@pytest.mark.parametrize(
    ("replaced", "reason"),
    [
        ({"suffixes": ["a", "b", "c"]}, "lacks the empty suffix"),
        ({"suffixes": ["", "b"]}, "suffix_emissions"),
        ({"words": ["fish"]}, "emissions"),
        ({"words": []}, "words is empty"),
        ({"words": ["fish", "fish"]}, "an entry twice"),
        ({"start": np.zeros(3)}, "start"),
        ({"end": np.array([0, np.inf])}, "end holds NaN, plus infinity"),
        ({"transitions": np.zeros((2, 2), dtype=int)}, "transitions is int64"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_by_name(replaced, reason):
    with pytest.raises(ValueError, match=reason):
        HmmTagger(parameters(**replaced), Constraints.none(2), 10)
