"""What is particular to the biLSTM-CRF; what every tagger keeps is in tests/contract."""

import numpy as np
import pytest

from service.decoding import Constraints
from service.taggers import Parameters
from service.taggers.bilstm_crf import BilstmCrfTagger
from service.taggers.elmo import elmo_tagger
from service.text.tokens import offsets_of
from tests.made_networks import read_network

WITH_CHARACTERS = read_network("ner-characters")
WORDS_ALONE = read_network("ner-words")


def make(parameters, max_unseen=10):
    return BilstmCrfTagger(parameters, Constraints.none(len(parameters.labels)), max_unseen)


def emissions(tagger, *words):
    return tagger.score(list(words), offsets_of([len(words)])).emissions


def replaced(parameters, **arrays):
    return Parameters(parameters.labels, {**parameters.arrays, **arrays}, parameters.vocabularies)


def test_without_characters_unknown_words_of_one_case_are_the_same():
    tagger = make(WORDS_ALONE)
    assert np.array_equal(emissions(tagger, "Qwertz"), emissions(tagger, "Zuiop"))
    assert not np.array_equal(emissions(tagger, "Qwertz"), emissions(tagger, "qwertz"))


def test_with_characters_they_are_not():
    tagger = make(WITH_CHARACTERS)
    assert not np.array_equal(emissions(tagger, "Bade"), emissions(tagger, "Tusa"))


def test_a_word_is_scored_by_its_whole_sentence():
    tagger = make(WITH_CHARACTERS)
    alone = emissions(tagger, "Bade")[0]
    assert not np.array_equal(emissions(tagger, "mr", "Bade")[1], alone)
    assert not np.array_equal(emissions(tagger, "Bade", "Corp")[0], alone)


@pytest.mark.parametrize("name", sorted(WITH_CHARACTERS.arrays))
def test_a_missing_array_is_named(name):
    arrays = {key: array for key, array in WITH_CHARACTERS.arrays.items() if key != name}
    broken = Parameters(WITH_CHARACTERS.labels, arrays, WITH_CHARACTERS.vocabularies)
    with pytest.raises(ValueError, match=f"the array {name} is missing"):
        make(broken)


@pytest.mark.parametrize("name", sorted(WITH_CHARACTERS.arrays))
def test_an_array_of_another_shape_is_named(name):
    broken = replaced(WITH_CHARACTERS, **{name: WITH_CHARACTERS.arrays[name][..., None]})
    with pytest.raises(ValueError, match=f"the array {name} "):
        make(broken)


def test_states_that_do_not_fit_the_gates_are_refused():
    recurrent = WITH_CHARACTERS.arrays["context_recurrent"][:, :-1]
    with pytest.raises(ValueError, match="context_recurrent has 47 rows for 12 states"):
        make(replaced(WITH_CHARACTERS, context_recurrent=recurrent))


LAYERS = read_network("tag-layers")


def without(parameters, prefix):
    arrays = {key: a for key, a in parameters.arrays.items() if not key.startswith(prefix)}
    return Parameters(parameters.labels, arrays, parameters.vocabularies)


def test_every_layer_adds_to_the_states_of_the_one_below():
    words = ("the", "bade", "tusa", ".")
    two = without(LAYERS, "context3")
    both, lower = emissions(make(LAYERS), *words), emissions(make(two), *words)
    assert not np.allclose(both, lower, atol=1e-3)
    weights = ("inputs", "bias", "recurrent")
    silent = {f"context3_{name}": 0 * LAYERS.arrays[f"context3_{name}"] for name in weights}
    assert np.array_equal(emissions(make(replaced(LAYERS, **silent)), *words), lower)


@pytest.mark.parametrize("name", ["context2_inputs", "context3_bias", "context3_recurrent"])
def test_a_layer_with_an_array_missing_is_refused(name):
    with pytest.raises(ValueError, match=f"the array {name} is missing"):
        make(without(LAYERS, name))


def test_a_layer_is_not_skipped():
    with pytest.raises(ValueError, match="the array context2_recurrent is missing"):
        make(without(LAYERS, "context2"))


def test_layers_of_different_widths_are_refused():
    narrow = {
        "context2_inputs": np.zeros((2, 12, 16), np.float32),
        "context2_bias": np.zeros((2, 12), np.float32),
        "context2_recurrent": np.zeros((2, 12, 3), np.float32),
    }
    with pytest.raises(ValueError, match="context2 has 3 states, not 8"):
        make(replaced(LAYERS, **narrow))


@pytest.mark.parametrize("words", [[], ["the", ""]])
def test_words_whose_rows_are_made_at_load_are_words(words):
    vocabularies = {**WORDS_ALONE.vocabularies, "words": words}
    with pytest.raises(ValueError, match="the vocabulary words"):
        make(Parameters(WORDS_ALONE.labels, WORDS_ALONE.arrays, vocabularies))


@pytest.mark.parametrize("states", [["O"], ["B-PER"] * 13, [*"abc"], ["O", "L-PER"]])
def test_states_that_are_no_bioes_tags_of_the_labels_are_refused(states):
    parameters = read_network("ner-bioes")
    vocabularies = {**parameters.vocabularies, "states": states}
    with pytest.raises(ValueError, match=r"states|BIOES"):
        make(Parameters(parameters.labels, parameters.arrays, vocabularies))


def test_outside_states_bear_bio_tags():
    parameters = read_network("ner-bioes")
    assert any(state.startswith("E-") for state in parameters.vocabularies["states"])
    tagger = make(parameters)
    assert len(tagger.labels) == len(parameters.vocabularies["states"])
    assert set(tagger.labels) == set(parameters.labels)


ELMO = read_network("ner-elmo")
SCALE = ELMO.arrays["mix_scale"]


def elmo(**arrays):
    return elmo_tagger(replaced(ELMO, **arrays), Constraints.none(len(ELMO.labels)), 10)


def test_an_elmo_reads_the_mix_that_it_has_learned():
    words = ("mr", "Bade", ".")
    as_learned = emissions(elmo(), *words)
    unscaled = emissions(elmo(mix_scale=np.zeros(1)), *words)
    assert not np.allclose(as_learned, unscaled, atol=1e-3)
    top = emissions(elmo(mix_weights=np.array([0.0, 0.0, 1.0])), *words)
    twice = emissions(elmo(mix_weights=np.array([0.0, 0.0, 0.5]), mix_scale=2.0 * SCALE), *words)
    np.testing.assert_allclose(twice, top, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mix_weights", "the array mix_weights is"),
        ("mix_scale", "the array mix_scale is"),
        ("context_inputs", "the array context_inputs is"),
        ("lm_narrow", "of the language model, the array narrow is"),
    ],
)
def test_what_does_not_fit_in_an_elmo_is_named(name, said):
    with pytest.raises(ValueError, match=said):
        elmo(**{name: ELMO.arrays[name][..., None]})
