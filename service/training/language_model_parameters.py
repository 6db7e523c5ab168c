"""The weights of a trained language model as its parameters, in half precision or less."""

import torch

from service.taggers.base import Parameters
from service.training.batches import Vocabulary
from service.training.language_model import LanguageModel
from service.training.network_parameters import (
    half,
    lstm_arrays,
    word_arrays,
    word_network_of,
    word_vocabularies,
)


def language_model_parameters_of(model: LanguageModel, vocabulary: Vocabulary) -> Parameters:
    """The parameters that `service.taggers.language_model.LanguageModel` takes: no softmax.

    Word vectors become bytes with a scale for each word, the rest float16.
    """
    arrays = {
        **word_arrays(model.words),
        "narrow": half(model.narrow.weight.T),
        "narrow_bias": half(model.narrow.bias),
    }
    for i, lstms in enumerate(zip(*model.ways, strict=True), start=1):
        arrays |= lstm_arrays(f"layer{i}", lstms)
    return Parameters((), arrays, word_vocabularies(model.words, vocabulary))


def language_model_of(parameters: Parameters) -> tuple[LanguageModel, Vocabulary]:
    """A network with the weights of a language model, as stored: to compare with.

    Its softmax foretells nothing.
    """
    arrays = {name: torch.tensor(array).float() for name, array in parameters.arrays.items()}
    words, vocabulary = word_network_of(parameters)
    hidden = arrays["narrow"].shape[1]
    layers = sum(name.startswith("layer") for name in arrays) // 3
    model = LanguageModel(words, hidden, layers, 2, (1,))
    state = {"narrow.weight": arrays["narrow"].T, "narrow.bias": arrays["narrow_bias"]}
    for layer in range(layers):
        for way in range(2):
            bias = arrays[f"layer{layer + 1}_bias"][way]
            name = f"ways.{way}.{layer}"
            state[f"{name}.weight_ih_l0"] = arrays[f"layer{layer + 1}_inputs"][way]
            state[f"{name}.weight_hh_l0"] = arrays[f"layer{layer + 1}_recurrent"][way]
            state[f"{name}.bias_ih_l0"] = bias
            state[f"{name}.bias_hh_l0"] = torch.zeros_like(bias)
    model.load_state_dict(state, strict=False)  # the words are there already
    return model.eval(), vocabulary
