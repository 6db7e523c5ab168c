"""The rows of the CRF against a plain reference that looks at every feature of every token."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.decoding import Constraints
from service.taggers import Parameters
from service.taggers.crf import CrfTagger
from service.text.features import BOUNDARY, OFFSETS, word_features
from service.text.tokens import Tokens

LABELS = ("A", "B", "C")
KNOWN = ["the", "The", "bank", "5.975,74", "well-bred", "NASA", "👞"]
UNSEEN = ["of", "The", "BANKS", "x" * 200, "e\u0301", "\u200b", "-", "naïve", "İ"]
words = st.lists(st.one_of(st.sampled_from(KNOWN + UNSEEN), st.text(min_size=1, max_size=5)))


def parameters(seed=0, **replaced):
    """A CRF with a random weight for about two tags of every second feature."""
    rng = np.random.default_rng(seed)
    names = {f for w in [*KNOWN, *UNSEEN, BOUNDARY] for o in OFFSETS for f in word_features(w, o)}
    attributes = sorted(name for name in names if rng.random() < 0.5)
    counts = rng.integers(0, len(LABELS) + 1, len(attributes))
    tags = np.concatenate([rng.permutation(len(LABELS))[:count] for count in counts])
    arrays = {
        "attribute_offsets": np.concatenate(([0], np.cumsum(counts))).astype(np.int32),
        "weight_tags": tags.astype(np.int16),
        "weights": rng.normal(size=len(tags)).astype(np.float32),
        "transitions": rng.normal(size=(len(LABELS), len(LABELS))).astype(np.float32),
    }
    vocabularies = {"attributes": attributes, "words": KNOWN}
    arrays.update({k: v for k, v in replaced.items() if k not in vocabularies})
    vocabularies.update({k: v for k, v in replaced.items() if k in vocabularies})
    return Parameters(LABELS, arrays, vocabularies)


def reference_emissions(given, sentence):
    """The score of each tag at each token: the weights of all features that fire, added up."""
    weights = {}
    bounds = given.arrays["attribute_offsets"]
    for a, name in enumerate(given.vocabularies["attributes"]):
        for n in range(bounds[a], bounds[a + 1]):
            weights[name, given.arrays["weight_tags"][n]] = float(given.arrays["weights"][n])
    table = np.zeros((len(sentence), len(LABELS)))
    for i in range(len(sentence)):
        for offset in OFFSETS:
            inside = 0 <= i + offset < len(sentence)
            for name in word_features(sentence[i + offset] if inside else BOUNDARY, offset):
                table[i] += [weights.get((name, tag), 0.0) for tag in range(len(LABELS))]
    return table


GIVEN = parameters()
TAGGER = CrfTagger(GIVEN, Constraints.none(len(LABELS)), max_unseen_words=5)


@given(st.lists(words, max_size=4))
def test_gathered_rows_equal_the_reference_feature_by_feature(sentences):
    tokens = Tokens.from_sentences(sentences)
    emissions = TAGGER.score(tokens.words, tokens.sentence_offsets).emissions
    expected = [reference_emissions(GIVEN, sentence) for sentence in sentences]
    assert emissions == pytest.approx(np.concatenate([np.zeros((0, 3)), *expected]), abs=1e-5)


def test_constraints_are_added_to_the_transitions():
    forbidding = Constraints(np.full((3, 3), -np.inf), np.array([0, -np.inf, 0]), np.zeros(3))
    scores = CrfTagger(GIVEN, forbidding, 5).score(["the"], np.array([0, 1]))
    assert (scores.transitions == -np.inf).all()
    assert scores.start.tolist() == [0, -np.inf, 0]


@pytest.mark.parametrize(
    ("replaced", "reason"),
    [
        ({"transitions": np.zeros((2, 2))}, "transitions is float64 of shape"),
        ({"transitions": np.full((3, 3), np.nan)}, "transitions holds NaN"),
        ({"weights": np.zeros((2, 2))}, "weights"),
        ({"weights": np.zeros(3)}, "weight_tags"),
        ({"attribute_offsets": np.zeros(2, np.int32)}, "attribute_offsets"),
        ({"attributes": ["a", "a"]}, "attributes has an entry twice"),
        ({"words": [BOUNDARY]}, "words has an empty entry"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_by_name(replaced, reason):
    with pytest.raises(ValueError, match=reason):
        CrfTagger(parameters(**replaced), Constraints.none(3), 5)


@pytest.mark.parametrize("name", ["transitions", "weights", "attribute_offsets", "weight_tags"])
def test_a_missing_array_is_named(name):
    given = parameters()
    arrays = {key: array for key, array in given.arrays.items() if key != name}
    with pytest.raises(ValueError, match=f"{name} is missing"):
        CrfTagger(Parameters(LABELS, arrays, given.vocabularies), Constraints.none(3), 5)


def test_tags_and_bounds_that_lead_nowhere_are_refused():
    given = parameters()
    for name, position, wrong in [
        ("weight_tags", 0, 3),
        ("weight_tags", 0, -1),
        ("attribute_offsets", 1, 30_000),
        ("attribute_offsets", 0, 1),
    ]:
        array = given.arrays[name].copy()
        array[position] = wrong
        with pytest.raises(ValueError, match=name):
            CrfTagger(parameters(**{name: array}), Constraints.none(3), 5)
