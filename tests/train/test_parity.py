"""NumPy serves what PyTorch trained: the same scores, on random weights and on what ships."""

from pathlib import Path

import numpy as np
import pytest
import torch

from service.store.directory import constraints_of, read_manifest, read_parameters
from service.taggers import ARCHITECTURES
from service.taggers.bilstm_crf import states_of
from service.text.spelling import CASES
from service.text.tokens import Tokens
from service.training.batches import Vocabulary
from service.training.network import BilstmCrf, Widths
from service.training.network_parameters import network_of, parameters_of
from service.training.network_tagger import NetworkTagger
from tests.made_networks import read_network

MODELS = Path(__file__).parents[2] / "models"
SHIPPED = sorted(path.parent for path in MODELS.glob("*-bilstm-crf/manifest.json"))
LABELS = ("B-ORG", "B-PER", "I-ORG", "I-PER", "O")
SENTENCES = [
    ["Jane", "Villanueva", "of", "United", "Airlines"],
    [],
    ["i", "saw", "obama", "in", "LONDON", ",", "1975-2026"],
    ["x" * 1000, "İstanbul", "我来到北京", "👩\u200d👩\u200d👧", "\x00", "e\u0301"],
    ["the"],
    ["the"] * 200,
]


def random_parameters(character_hidden):
    torch.manual_seed(0)
    vocabulary = Vocabulary(["jane", "of", "the", "0000-0000"], list("abcdeJ9"))
    network = BilstmCrf(
        torch.randn(len(vocabulary.words) + 1, 12),
        len(CASES),
        len(vocabulary.characters),
        Widths(3, 5, character_hidden, 16),
        0.5,
        constraints_of("ner", LABELS),
    )
    for weights in network.parameters():
        torch.nn.init.normal_(weights, std=0.7)
    return "ner", parameters_of(network, vocabulary, LABELS, ["the", "Jane"])


def shipped_parameters(directory):
    manifest = read_manifest(directory)
    return manifest.task, read_parameters(directory, manifest)


@pytest.mark.parametrize(
    ("task", "parameters"),
    [
        pytest.param(*random_parameters(0), id="random, words"),
        pytest.param(*random_parameters(7), id="random, characters"),
        pytest.param("ner", read_network("ner-bioes"), id="BIOES"),
        *(pytest.param(*shipped_parameters(d), id=d.name) for d in SHIPPED),
    ],
)
def test_numpy_scores_as_pytorch_does(task, parameters):
    constraints = constraints_of(task, parameters.labels)
    tokens = Tokens.from_sentences(SENTENCES)
    network, vocabulary = network_of(parameters, constraints)
    expected = NetworkTagger(network, vocabulary, *states_of(parameters, constraints))
    found = ARCHITECTURES["bilstm-crf"](parameters, constraints, 10)
    theirs = expected.score(tokens.words, tokens.sentence_offsets)
    ours = found.score(tokens.words, tokens.sentence_offsets)
    np.testing.assert_allclose(ours.emissions, theirs.emissions, rtol=0, atol=1e-4)
    for name in ("between", "start", "end"):
        mine, yours = (getattr(scores.transitions, name) for scores in (ours, theirs))
        np.testing.assert_allclose(mine, yours, rtol=0, atol=1e-4)
