"""The weights of a trained network as the parameters of its tagger, in half precision or less."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from service.decoding import Constraints
from service.taggers.base import Parameters
from service.taggers.bilstm_crf import layer_name, layer_names, states_of
from service.training.batches import Vocabulary
from service.training.network import BilstmCrf, LayerMix
from service.training.word_network import WordNetwork, WordWidths

Arrays = dict[str, NDArray[Any]]


def parameters_of(
    network: BilstmCrf, vocabulary: Vocabulary, labels: tuple[str, ...], words: Sequence[str]
) -> Parameters:
    """The parameters that `service.taggers.bilstm_crf.BilstmCrfTagger` takes.

    Word vectors become bytes with a scale for each word, the rest float16.

    Parameters
    ----------
    network : the network.
    vocabulary : what words are looked up in.
    labels : the K tags.
    words : those whose rows are made when the model loads.
    """
    arrays: Arrays = {
        **word_arrays(network.words),
        "output": half(network.output.weight.T),
        "output_bias": half(network.output.bias),
        "transitions": half(network.crf.transitions),
        "start": half(network.crf.start),
        "end": half(network.crf.end),
    }
    for layer, lstm in enumerate(network.layers, start=1):
        arrays |= lstm_arrays(layer_name(layer), lstm.ways)
    if network.mix is not None:
        arrays["mix_weights"] = network.mix.weights().detach().numpy()
        arrays["mix_scale"] = network.mix.scale.detach().numpy()
    vocabularies = {**word_vocabularies(network.words, vocabulary), "words": list(words)}
    return Parameters(labels, arrays, vocabularies)


def word_arrays(words: WordNetwork) -> Arrays:
    """The arrays that `service.taggers.word_inputs.WordInputs` takes."""
    vectors, scales = _quantized(words.vectors.weight.detach().numpy())
    arrays: Arrays = {
        "word_vectors": vectors,
        "word_vector_scales": scales,
        "case_vectors": half(words.case_vectors.weight),
    }
    if words.reads_characters:
        arrays["character_vectors"] = half(words.character_vectors.weight)
        arrays |= lstm_arrays("character", words.spelling.ways)
    return arrays


def word_vocabularies(words: WordNetwork, vocabulary: Vocabulary) -> dict[str, list[str]]:
    """The vocabularies that `service.taggers.word_inputs.WordInputs` takes."""
    vocabularies = {"vector_words": list(vocabulary.words)}
    if words.reads_characters:
        vocabularies["characters"] = list(vocabulary.characters)
    return vocabularies


def _quantized(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Rows as bytes, and for each row what a unit of them stands for: (V, D) and (V,)."""
    scales = (np.abs(vectors).max(axis=1) / 127).astype(np.float16)
    steps = np.maximum(scales, np.finfo(np.float16).tiny).astype(np.float32)[:, None]
    return np.clip(np.round(vectors / steps), -127, 127).astype(np.int8), scales


def lstm_arrays(name: str, ways: Sequence[nn.LSTM]) -> Arrays:
    """The arrays of a forward and a backward LSTM; see `service.taggers.word_inputs.read_lstm`."""
    return {
        f"{name}_inputs": np.stack([half(way.weight_ih_l0) for way in ways]),
        f"{name}_recurrent": np.stack([half(way.weight_hh_l0) for way in ways]),
        f"{name}_bias": np.stack([half(way.bias_ih_l0 + way.bias_hh_l0) for way in ways]),
    }


def half(weights: Tensor) -> NDArray[np.float16]:
    """Weights in half precision."""
    rounded: NDArray[np.float16] = np.ascontiguousarray(weights.detach().numpy()).astype(np.float16)
    return rounded


def network_of(parameters: Parameters, constraints: Constraints) -> tuple[BilstmCrf, Vocabulary]:
    """A network with the weights of a model, as stored: to compare with, or to go on from.

    Parameters
    ----------
    parameters : what `parameters_of` gives.
    constraints : of the labels.
    """
    _, constraints = states_of(parameters, constraints)
    arrays = {name: torch.tensor(array).float() for name, array in parameters.arrays.items()}
    words, vocabulary = word_network_of(parameters)
    hidden = arrays["context_recurrent"].shape[2]
    mix = None
    if "mix_weights" in arrays:
        width = arrays["context_inputs"].shape[2] - words.width
        mix = LayerMix(len(arrays["mix_weights"]), width)
    layers = layer_names(parameters)
    network = BilstmCrf(words, mix, hidden, len(layers), 0.0, constraints)
    state = {
        "output.weight": arrays["output"].T,
        "output.bias": arrays["output_bias"],
        "crf.transitions": arrays["transitions"],
        "crf.start": arrays["start"],
        "crf.end": arrays["end"],
    }
    for i, name in enumerate(layers):
        state |= _lstm_state(name, f"layers.{i}", arrays)
    if mix is not None:
        state |= {"mix.logits": arrays["mix_weights"].log(), "mix.scale": arrays["mix_scale"]}
    network.load_state_dict(state, strict=False)  # the words and the constraints are there already
    return network.eval(), vocabulary


def word_network_of(parameters: Parameters) -> tuple[WordNetwork, Vocabulary]:
    """The part of a network that reads words, with the weights that `word_arrays` gives."""
    arrays = {name: torch.tensor(array).float() for name, array in parameters.arrays.items()}
    characters = parameters.vocabularies.get("characters", [])
    cases, case_width = arrays["case_vectors"].shape
    widths = WordWidths(
        case_width,
        arrays["character_vectors"].shape[1] if characters else 0,
        arrays["character_recurrent"].shape[2] if characters else 0,
    )
    vectors = arrays["word_vectors"] * arrays["word_vector_scales"][:, None]
    words = WordNetwork(vectors, cases, len(characters), widths)
    state = {"vectors.weight": vectors, "case_vectors.weight": arrays["case_vectors"]}
    if characters:
        state["character_vectors.weight"] = arrays["character_vectors"]
        state |= _lstm_state("character", "spelling", arrays)
    words.load_state_dict(state)
    return words, Vocabulary(parameters.vocabularies["vector_words"], characters)


def _lstm_state(name: str, module: str, arrays: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights of the biLSTM `module` from the arrays called `name`."""
    state = {}
    for i, way in enumerate(("ahead", "back")):
        bias = arrays[f"{name}_bias"][i]
        state[f"{module}.{way}.weight_ih_l0"] = arrays[f"{name}_inputs"][i]
        state[f"{module}.{way}.weight_hh_l0"] = arrays[f"{name}_recurrent"][i]
        state[f"{module}.{way}.bias_ih_l0"] = bias
        state[f"{module}.{way}.bias_hh_l0"] = torch.zeros_like(bias)
    return state
