"""The rows of the CRF against a plain reference that looks at every feature of every token."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.decoding import Constraints
from service.taggers import Parameters, crf
from service.taggers.crf import CrfTagger
from service.taggers.crf_lexicon import lexicon_of
from service.text.conll import TaggedSentence
from service.text.features import (
    BOUNDARY,
    OFFSETS,
    WordClusters,
    features_at,
    pair_feature,
    word_features,
)
from service.text.tokens import Tokens
from service.training.crf import feature_reader
from service.training.lexicon import Lexicon

LABELS = ("A", "B", "C")
KNOWN = ["the", "The", "bank", "5.975,74", "well-bred", "NASA", "👞", "New", "York"]
UNSEEN = ["of", "THE", "BANKS", "x" * 200, "e\u0301", "\u200b", "-", "naïve", "İ", "new", "YORK"]
WORDS = [*KNOWN, *UNSEEN]
CLUSTERS = {"the": [3, 1], "bank": [2, 0], "of": [3, 7]}
AMBIGUITIES = {"The": "A|B", "the": "A!", "naïve": "C", "bank": "A|B"}
PHRASES = {"New York": 1, "New York bank": 2, "bank": 3, "of the bank": 2}
CLASSES = ["city", "firm"]
words = st.lists(st.one_of(st.sampled_from(WORDS), st.text(min_size=1, max_size=5)))

VOCABULARIES = {
    "words": KNOWN,
    "cluster_words": list(CLUSTERS),
    "ambiguity_words": list(AMBIGUITIES),
    "ambiguity_classes": ["A!", "A|B", "C"],
    "gazetteer_classes": CLASSES,
    "gazetteer_phrases": list(PHRASES),
}


def word_clusters():
    ids = {word: i for i, word in enumerate(CLUSTERS)}
    return WordClusters(ids, np.array(list(CLUSTERS.values())))


def parameters(seed=0, **replaced):
    """A CRF with random weights for about half of all features that could fire."""
    rng = np.random.default_rng(seed)
    clusters = word_clusters()
    features = {  # by offset and name: what a token sees
        name
        for word in [*WORDS, BOUNDARY]
        for offset in OFFSETS
        for name in features_at(offset, word_features(word, clusters, AMBIGUITIES))
    }
    lowered = [word.lower() for word in [*WORDS, BOUNDARY]]
    features |= {
        f"{offset}:{pair_feature(a, b)}" for a in lowered for b in lowered for offset in (0, 1)
    }
    features |= {f"0:{c}:{how}:{where}" for c in CLASSES for how in CASINGS for where in POSITIONS}
    weights = {}  # by attribute, then by cell
    for feature in sorted(features):
        offset, _, name = feature.partition(":")
        for tag in range(len(LABELS)):
            if rng.random() < 0.3:
                cell = OFFSETS.index(int(offset)) * len(LABELS) + tag
                weights.setdefault(name, {})[cell] = rng.normal()
    attributes = sorted(weights)
    counts = [len(weights[name]) for name in attributes]
    cells = [cell for name in attributes for cell in weights[name]]
    values = [weight for name in attributes for weight in weights[name].values()]
    arrays = {
        "attribute_offsets": np.concatenate(([0], np.cumsum(counts))).astype(np.int32),
        "weight_cells": np.array(cells, dtype=np.int16),
        "weights": np.array(values, dtype=np.float32),
        "transitions": rng.normal(size=(len(LABELS), len(LABELS))).astype(np.float32),
        "clusters": np.array(list(CLUSTERS.values()), dtype=np.int16),
        "ambiguities": np.array([1, 0, 2, 1], dtype=np.int32),
        "gazetteer_members": np.array(list(PHRASES.values()), dtype=np.int32),
    }
    vocabularies = {**VOCABULARIES, "attributes": attributes}
    arrays.update({k: v for k, v in replaced.items() if k not in vocabularies})
    vocabularies.update({k: v for k, v in replaced.items() if k in vocabularies})
    return Parameters(LABELS, arrays, vocabularies)


CASINGS = ("exact", "folded")
POSITIONS = ("single", "first", "inside", "last", "before", "after")


def matches(sentence):
    """(token, feature) of all matches, found by trying every phrase at every token."""
    i = 0
    while i < len(sentence):
        fitting = [
            (len(phrase.split()), phrase)
            for phrase in PHRASES
            if " ".join(sentence[i : i + len(phrase.split())]).lower() == phrase.lower()
        ]
        if not fitting:
            i += 1
            continue
        length, phrase = max(fitting)
        casing = "exact" if " ".join(sentence[i : i + length]) == phrase else "folded"
        inner = ["first", *["inside"] * (length - 2), "last"] if length > 1 else ["single"]
        for token, where in enumerate(["before", *inner, "after"], start=i - 1):
            for c, name in enumerate(CLASSES):
                if 0 <= token < len(sentence) and PHRASES[phrase] >> c & 1:
                    yield token, f"{name}:{casing}:{where}"
        i += length


def reference_features(sentence):
    """All features of each token, by offset and name."""
    clusters = word_clusters()

    def at(i):
        return sentence[i] if 0 <= i < len(sentence) else BOUNDARY

    features = []
    for i in range(len(sentence)):
        names = [
            name
            for offset in OFFSETS
            for name in features_at(offset, word_features(at(i + offset), clusters, AMBIGUITIES))
        ]
        names.append(f"1:{pair_feature(at(i).lower(), at(i + 1).lower())}")
        names.append(f"0:{pair_feature(at(i - 1).lower(), at(i).lower())}")
        features.append(names)
    for token, name in matches(sentence):
        features[token].append(f"0:{name}")
    return features


def reference_emissions(given, sentence):
    """The score of each tag at each token: the weights of all features that fire, added up."""
    weights = {}
    bounds = given.arrays["attribute_offsets"]
    for a, name in enumerate(given.vocabularies["attributes"]):
        for n in range(bounds[a], bounds[a + 1]):
            offset, tag = divmod(int(given.arrays["weight_cells"][n]), len(LABELS))
            weights[f"{OFFSETS[offset]}:{name}", tag] = float(given.arrays["weights"][n])
    return [
        [sum(weights.get((name, tag), 0.0) for name in names) for tag in range(len(LABELS))]
        for names in reference_features(sentence)
    ]


GIVEN = parameters()
TAGGER = CrfTagger(GIVEN, Constraints.none(len(LABELS)), max_unseen_words=5)


@pytest.mark.parametrize("bytes_at_once", [crf._BYTES_AT_ONCE, 500])
@given(sentences=st.lists(words, max_size=4))
def test_gathered_rows_equal_the_reference_feature_by_feature(bytes_at_once, sentences):
    tokens = Tokens.from_sentences(sentences)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crf, "_BYTES_AT_ONCE", bytes_at_once)
        emissions = TAGGER.score(tokens.words, tokens.sentence_offsets).emissions
    expected = [row for sentence in sentences for row in reference_emissions(GIVEN, sentence)]
    assert emissions == pytest.approx(np.array(expected).reshape(-1, len(LABELS)), abs=1e-4)


@given(words)
def test_training_reads_the_features_that_serving_sums_up(sentence):
    sentence = [word for word in sentence if " " not in word]  # such a word is in no pair
    lexicon = Lexicon(dict(GIVEN.arrays), dict(GIVEN.vocabularies))
    twice = [TaggedSentence(tuple(sentence), ("A",) * len(sentence))] * 2
    read = feature_reader(twice, lexicon).features(sentence)
    assert list(map(sorted, read)) == list(map(sorted, reference_features(sentence)))


@given(st.lists(words, max_size=4))
def test_the_features_that_fired_are_those_of_the_reference_and_add_up(sentences):
    tokens = Tokens.from_sentences(sentences)
    fired = TAGGER.fired_features(tokens.words, tokens.sentence_offsets)
    emissions = TAGGER.score(tokens.words, tokens.sentence_offsets).emissions
    names = [names for sentence in sentences for names in reference_features(sentence)]
    assert len(fired) == len(emissions) == len(names)
    for features, row, had in zip(fired, emissions, names, strict=True):
        assert sum([f.weights for f in features], np.zeros(3)) == pytest.approx(row, abs=1e-4)
        assert all(f.weights.any() for f in features)
        assert {f.name for f in features} <= set(had)


@pytest.mark.parametrize(
    "sentence",
    [
        "New York bank",
        "the new york of the bank",
        "New York New York",
        "New",
        "of the",
        "bank",
        "of the bank bank",
        "New new york BANK the",
    ],
)
def test_matches_of_gazetteers_equal_the_reference(sentence):
    sentence = sentence.split()
    assert len(list(matches(sentence))) or sentence in (["New"], ["of", "the"])
    emissions = TAGGER.score(sentence, np.array([0, len(sentence)])).emissions
    assert emissions == pytest.approx(np.array(reference_emissions(GIVEN, sentence)), abs=1e-4)


def test_a_match_never_crosses_the_border_of_a_sentence():
    apart = TAGGER.score(["New", "York"], np.array([0, 1, 2])).emissions
    alone = [reference_emissions(GIVEN, [word])[0] for word in ("New", "York")]
    assert apart == pytest.approx(np.array(alone), abs=1e-4)


def test_a_model_without_a_lexicon_is_one_too():
    bare, lexicon = {"attributes", "words"}, {"clusters", "ambiguities", "gazetteer_members"}
    given = Parameters(
        LABELS,
        {k: v for k, v in GIVEN.arrays.items() if k not in lexicon},
        {k: v for k, v in GIVEN.vocabularies.items() if k in bare},
    )
    emissions = CrfTagger(given, Constraints.none(3), 5).score(["👞"], np.array([0, 1])).emissions
    assert emissions == pytest.approx(np.array(reference_emissions(given, ["👞"])), abs=1e-4)


def test_integers_of_any_type_are_indexes():
    arrays = {
        name: array.astype(np.uint64) if array.dtype.kind == "i" else array
        for name, array in GIVEN.arrays.items()
    }
    tagger = CrfTagger(Parameters(LABELS, arrays, GIVEN.vocabularies), Constraints.none(3), 5)
    expected = TAGGER.score(["the", "bank"], np.array([0, 2])).emissions
    assert (tagger.score(["the", "bank"], np.array([0, 2])).emissions == expected).all()


def test_constraints_are_added_to_the_scores():
    forbidding = Constraints(np.full((3, 3), -np.inf), np.array([0, -np.inf, 0]), np.zeros(3))
    scores = CrfTagger(GIVEN, forbidding, 5).score(["the"], np.array([0, 1]))
    assert (scores.transitions.between == -np.inf).all()
    assert scores.transitions.start.tolist() == [0, -np.inf, 0]


@pytest.mark.parametrize(
    ("replaced", "reason"),
    [
        ({"transitions": np.zeros((2, 2))}, "transitions is float64 of shape"),
        ({"transitions": np.full((3, 3), np.nan)}, "transitions holds NaN"),
        ({"transitions": np.full((3, 3), 3e38)}, "too large a number"),
        ({"weights": np.full(len(GIVEN.arrays["weights"]), -3e38)}, "too large a number"),
        ({"weight_cells": np.full(5, 2**64 - 1, np.uint64)}, "weight_cells"),
        ({"weights": np.zeros((2, 2))}, "weights"),
        ({"weights": np.zeros(3)}, "weight_cells"),
        ({"attribute_offsets": np.zeros(2, np.int32)}, "attribute_offsets"),
        ({"attributes": ["a", "a"]}, "attributes has an entry twice"),
        ({"words": [BOUNDARY]}, "words has an empty entry"),
        ({"clusters": np.zeros((1, 2), np.int16)}, "clusters"),
        ({"clusters": np.zeros((3, 2))}, "clusters is float64"),
        ({"ambiguities": np.zeros(2, np.int32)}, "ambiguities"),
        ({"ambiguities": np.full(4, 3, np.int32)}, "ambiguities names a class that is not there"),
        ({"ambiguities": np.full(4, -1, np.int32)}, "ambiguities names a class that is not there"),
        ({"ambiguity_words": ["a", "a", "b", "c"]}, "ambiguity_words has an entry twice"),
        ({"gazetteer_members": np.zeros(2, np.int32)}, "gazetteer_members"),
        ({"gazetteer_members": np.full(4, 4, np.int32)}, "names a class that is not there"),
        ({"gazetteer_members": np.full(4, -1, np.int32)}, "names a class that is not there"),
        ({"gazetteer_phrases": ["a", "a", "b", "c"]}, "an entry twice"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_by_name(replaced, reason):
    with pytest.raises(ValueError, match=reason):
        CrfTagger(parameters(**replaced), Constraints.none(3), 5)


@pytest.mark.parametrize(
    "name", ["transitions", "weights", "attribute_offsets", "weight_cells", "clusters"]
)
def test_a_missing_array_is_named(name):
    arrays = {key: array for key, array in GIVEN.arrays.items() if key != name}
    with pytest.raises(ValueError, match=f"{name} is missing"):
        CrfTagger(Parameters(LABELS, arrays, GIVEN.vocabularies), Constraints.none(3), 5)


@pytest.mark.parametrize("name", ["cluster_words", "ambiguity_words", "gazetteer_phrases"])
def test_a_lexicon_without_its_words_is_refused(name):
    vocabularies = {k: v for k, v in GIVEN.vocabularies.items() if k != name}
    with pytest.raises(ValueError, match=f"{name} is missing"):
        lexicon_of(Parameters(LABELS, GIVEN.arrays, vocabularies))


def test_half_a_gazetteer_is_refused():
    vocabularies = {k: v for k, v in GIVEN.vocabularies.items() if k != "gazetteer_classes"}
    with pytest.raises(ValueError, match="gazetteer_classes is missing"):
        lexicon_of(Parameters(LABELS, GIVEN.arrays, vocabularies))


@pytest.mark.parametrize(
    ("name", "position", "wrong"),
    [
        ("weight_cells", 0, 15),
        ("weight_cells", 0, -1),
        ("attribute_offsets", 1, 30_000),
        ("attribute_offsets", 0, 1),
    ],
)
def test_tags_and_bounds_that_lead_nowhere_are_refused(name, position, wrong):
    array = GIVEN.arrays[name].copy()
    array[position] = wrong
    with pytest.raises(ValueError, match=name):
        CrfTagger(parameters(**{name: array}), Constraints.none(3), 5)
