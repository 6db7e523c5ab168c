"""The weights of a trained network as the parameters of its tagger, in half precision or less."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from service.decoding import Constraints
from service.taggers.base import Parameters
from service.taggers.bilstm_crf import states_of
from service.training.batches import Vocabulary
from service.training.network import BilstmCrf, TwoWayLstm, Widths

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
    vectors, scales = _quantized(network.word_vectors.weight.detach().numpy())
    arrays: Arrays = {
        "word_vectors": vectors,
        "word_vector_scales": scales,
        "case_vectors": _half(network.case_vectors.weight),
        **_lstm("context", network.context),
        "output": _half(network.output.weight.T),
        "output_bias": _half(network.output.bias),
        "transitions": _half(network.crf.transitions),
        "start": _half(network.crf.start),
        "end": _half(network.crf.end),
    }
    vocabularies = {"vector_words": list(vocabulary.words), "words": list(words)}
    if network.reads_characters:
        arrays["character_vectors"] = _half(network.character_vectors.weight)
        arrays |= _lstm("character", network.spelling)
        vocabularies["characters"] = list(vocabulary.characters)
    return Parameters(labels, arrays, vocabularies)


def _quantized(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Rows as bytes, and for each row what a unit of them stands for: (V, D) and (V,)."""
    scales = (np.abs(vectors).max(axis=1) / 127).astype(np.float16)
    steps = np.maximum(scales, np.finfo(np.float16).tiny).astype(np.float32)[:, None]
    return np.clip(np.round(vectors / steps), -127, 127).astype(np.int8), scales


def _lstm(name: str, layer: TwoWayLstm) -> Arrays:
    """The arrays of a biLSTM, forward and backward stacked; see `service.taggers.word_inputs`."""
    ways = [layer.ahead, layer.back]
    return {
        f"{name}_inputs": np.stack([_half(way.weight_ih_l0) for way in ways]),
        f"{name}_recurrent": np.stack([_half(way.weight_hh_l0) for way in ways]),
        f"{name}_bias": np.stack([_half(way.bias_ih_l0 + way.bias_hh_l0) for way in ways]),
    }


def _half(weights: Tensor) -> NDArray[np.float16]:
    half: NDArray[np.float16] = np.ascontiguousarray(weights.detach().numpy()).astype(np.float16)
    return half


def network_of(parameters: Parameters, constraints: Constraints) -> tuple[BilstmCrf, Vocabulary]:
    """A network with the weights of a model, as stored: to compare with, or to go on from.

    Parameters
    ----------
    parameters : what `parameters_of` gives.
    constraints : of the labels.
    """
    _, constraints = states_of(parameters, constraints)
    arrays = {name: torch.tensor(array).float() for name, array in parameters.arrays.items()}
    characters = parameters.vocabularies.get("characters", [])
    vocabulary = Vocabulary(parameters.vocabularies["vector_words"], characters)
    cases, case_width = arrays["case_vectors"].shape
    widths = Widths(
        case_width,
        arrays["character_vectors"].shape[1] if characters else 0,
        arrays["character_recurrent"].shape[2] if characters else 0,
        arrays["context_recurrent"].shape[2],
    )
    vectors = arrays["word_vectors"] * arrays["word_vector_scales"][:, None]
    network = BilstmCrf(vectors, cases, len(characters), widths, 0.0, constraints)
    state = {
        "word_vectors.weight": vectors,
        "case_vectors.weight": arrays["case_vectors"],
        **_lstm_state("context", arrays),
        "output.weight": arrays["output"].T,
        "output.bias": arrays["output_bias"],
        "crf.transitions": arrays["transitions"],
        "crf.start": arrays["start"],
        "crf.end": arrays["end"],
    }
    if characters:
        state["character_vectors.weight"] = arrays["character_vectors"]
        state |= {
            name.replace("character.", "spelling.", 1): weights
            for name, weights in _lstm_state("character", arrays).items()
        }
    network.load_state_dict(state, strict=False)  # the constraints are there already
    return network.eval(), vocabulary


def _lstm_state(name: str, arrays: dict[str, Tensor]) -> dict[str, Tensor]:
    state = {}
    for i, way in enumerate(("ahead", "back")):
        bias = arrays[f"{name}_bias"][i]
        state[f"{name}.{way}.weight_ih_l0"] = arrays[f"{name}_inputs"][i]
        state[f"{name}.{way}.weight_hh_l0"] = arrays[f"{name}_recurrent"][i]
        state[f"{name}.{way}.bias_ih_l0"] = bias
        state[f"{name}.{way}.bias_hh_l0"] = torch.zeros_like(bias)
    return state
