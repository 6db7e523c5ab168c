"""NumPy serves what PyTorch trained: the same scores, on random weights and on what ships."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from service.store.directory import constraints_of, read_manifest, read_parameters
from service.taggers import ARCHITECTURES, Parameters
from service.taggers.bilstm_crf import states_of
from service.text.spelling import BOUNDARY, CASES
from service.text.tokens import Tokens
from service.training.batches import Vocabulary
from service.training.language_model import LanguageModel
from service.training.language_model_parameters import (
    language_model_of,
    language_model_parameters_of,
)
from service.training.network import BilstmCrf, LayerMix
from service.training.network_parameters import network_of, parameters_of
from service.training.network_tagger import NetworkTagger
from service.training.word_network import WordNetwork, WordWidths
from tests.made_networks import read_network
from tests.train.store import torch_layers

MODELS = Path(__file__).parents[2] / "models"
NEURAL = ("bilstm-crf", "elmo")
LABELS = ("B-ORG", "B-PER", "I-ORG", "I-PER", "O")
SENTENCES = [
    ["Jane", "Villanueva", "of", "United", "Airlines"],
    [],
    ["i", "saw", "obama", "in", "LONDON", ",", "1975-2026"],
    ["x" * 1000, "İstanbul", "我来到北京", "👩\u200d👩\u200d👧", "\x00", "e\u0301"],
    ["the"],
    ["the"] * 200,
]


VOCABULARY = Vocabulary([BOUNDARY, "jane", "of", "the", "0000-0000"], list("abcdeJ9"))


def random_words(character_hidden):
    return WordNetwork(
        torch.randn(len(VOCABULARY.words) + 1, 12),
        len(CASES),
        len(VOCABULARY.characters),
        WordWidths(3, 5, character_hidden),
    )


def random_parameters(character_hidden, mix=None, layers=1):
    torch.manual_seed(0)
    constraints = constraints_of("ner", LABELS)
    network = BilstmCrf(random_words(character_hidden), mix, 16, layers, 0.5, constraints)
    for weights in network.parameters():
        torch.nn.init.normal_(weights, std=0.7)
    return parameters_of(network, VOCABULARY, LABELS, ["the", "Jane"])


def random_language_model():
    torch.manual_seed(1)
    model = LanguageModel(random_words(4), 7, 2, 5, (2,))
    for weights in model.parameters():
        torch.nn.init.normal_(weights, std=0.7)
    return language_model_parameters_of(model, VOCABULARY)


def random_elmo():
    tagger, read = random_parameters(0, LayerMix(3, 14)), random_language_model().under("lm_")
    arrays = {**tagger.arrays, **read.arrays}
    return Parameters(LABELS, arrays, {**tagger.vocabularies, **read.vocabularies})


def shipped():
    for path in sorted(MODELS.glob("*/manifest.json")):
        manifest = read_manifest(path.parent)
        if manifest.architecture in NEURAL:
            parameters = read_parameters(path.parent, manifest)
            yield pytest.param(manifest.task, manifest.architecture, parameters, id=manifest.name)


@pytest.mark.parametrize(
    ("task", "architecture", "parameters"),
    [
        pytest.param("ner", "bilstm-crf", random_parameters(0), id="random, words"),
        pytest.param("ner", "bilstm-crf", random_parameters(7), id="random, characters"),
        pytest.param("ner", "bilstm-crf", random_parameters(7, layers=2), id="random, layers"),
        pytest.param("tag", "bilstm-crf", read_network("tag-layers"), id="layers"),
        pytest.param("ner", "bilstm-crf", read_network("ner-bioes"), id="BIOES"),
        pytest.param("ner", "elmo", random_elmo(), id="random, ELMo"),
        *shipped(),
    ],
)
def test_numpy_scores_as_pytorch_does(task, architecture, parameters):
    constraints = constraints_of(task, parameters.labels)
    tokens = Tokens.from_sentences(SENTENCES)
    network, vocabulary = network_of(parameters, constraints)
    source = InPyTorch(parameters.part("lm_")) if architecture == "elmo" else None
    expected = NetworkTagger(network, vocabulary, *states_of(parameters, constraints), source)
    found = ARCHITECTURES[architecture](parameters, constraints, 10)
    theirs = expected.score(tokens.words, tokens.sentence_offsets)
    ours = found.score(tokens.words, tokens.sentence_offsets)
    np.testing.assert_allclose(ours.emissions, theirs.emissions, rtol=0, atol=1e-4)
    for name in ("between", "start", "end"):
        mine, yours = (getattr(scores.transitions, name) for scores in (ours, theirs))
        np.testing.assert_allclose(mine, yours, rtol=0, atol=1e-4)


class InPyTorch:
    """The language model as a source of contextual vectors, by PyTorch."""

    def __init__(self, parameters):
        self._read = language_model_of(parameters)

    def encode(self, words, sentence_offsets):
        bounds = pairwise(sentence_offsets.tolist())
        return torch_layers(*self._read, [words[first:end] for first, end in bounds])
