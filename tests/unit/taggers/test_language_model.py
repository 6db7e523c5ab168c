"""The language model against layers that PyTorch computed, and by what packing must not change."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

from service.taggers import Parameters
from service.taggers.language_model import LanguageModel
from service.text.tokens import Tokens
from tests.made_networks import FOLDER, LANGUAGE_MODEL_SENTENCES, read_network

PARAMETERS = read_network("language-model")
MODEL = LanguageModel(PARAMETERS, ["mr", "."], 10)
HIDDEN = MODEL.width // 2
sentences = st.lists(st.sampled_from(["mr", "Bade", "bade", "Corp", ".", "\n", "é"]), max_size=5)


def layers(sentences, model=MODEL):
    tokens = Tokens.from_sentences(sentences)
    return model.encode(tokens.words, tokens.sentence_offsets)


def test_the_layers_are_those_of_pytorch():
    expected = load_file(FOLDER / "language-model-layers.safetensors")["layers"]
    found = layers(LANGUAGE_MODEL_SENTENCES)
    assert found.shape == (10, MODEL.layers, MODEL.width) == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@given(st.lists(sentences, max_size=4))
def test_a_sentence_has_the_same_layers_alone_and_in_any_batch(batch):
    together = layers(batch)
    alone = [layers([words]) for words in batch]
    expected = np.concatenate([together[:0], *alone])
    np.testing.assert_allclose(together, expected, rtol=0, atol=1e-5)


def test_the_lowest_layer_knows_the_word_alone_and_each_direction_what_it_has_read():
    one, other = layers([["mr", "Bade", "."]]), layers([["Corp", "Bade", "."]])
    assert np.array_equal(one[1:, 0], other[1:, 0])
    assert not np.allclose(one[1:, 1:, :HIDDEN], other[1:, 1:, :HIDDEN], atol=1e-4)
    np.testing.assert_allclose(one[1:, 1:, HIDDEN:], other[1:, 1:, HIDDEN:], rtol=0, atol=1e-6)


def test_words_that_are_known_at_load_have_the_layers_of_others():
    unknowing = LanguageModel(PARAMETERS, [], 0)
    expected = layers(LANGUAGE_MODEL_SENTENCES)
    found = layers(LANGUAGE_MODEL_SENTENCES, unknowing)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", sorted(PARAMETERS.arrays))
def test_an_array_of_another_shape_is_named(name):
    arrays = {**PARAMETERS.arrays, name: PARAMETERS.arrays[name][..., None]}
    with pytest.raises(ValueError, match=f"the array {name} "):
        LanguageModel(Parameters((), arrays, PARAMETERS.vocabularies), ["mr"], 10)


def test_a_layer_of_another_width_is_refused():
    narrow = PARAMETERS.arrays["layer2_recurrent"][:, : 4 * (HIDDEN - 1), : HIDDEN - 1]
    arrays = {
        **PARAMETERS.arrays,
        "layer2_recurrent": narrow,
        "layer2_inputs": PARAMETERS.arrays["layer2_inputs"][:, : narrow.shape[1]],
        "layer2_bias": PARAMETERS.arrays["layer2_bias"][:, : narrow.shape[1]],
    }
    with pytest.raises(ValueError, match=f"layer2 has {HIDDEN - 1} states, not {HIDDEN}"):
        LanguageModel(Parameters((), arrays, PARAMETERS.vocabularies), ["mr"], 10)
