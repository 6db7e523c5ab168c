"""Makes the stored networks and states again: `python -m tests.train.store` in .venv-train."""

import torch
from safetensors.numpy import save_file

from service.store.directory import constraints_of
from service.training.bilstm_crf import estimate
from service.training.bilstm_crf_options import BilstmCrfOptions
from service.training.network import TwoWayLstm
from tests.made_corpora import ner_sentences, tag_sentences
from tests.made_networks import FOLDER, write_network

OPTIONS = {
    "epochs": 25,
    "sentences_at_once": 8,
    "learning_rate": 0.02,
    "dropout": 0.1,
    "hidden": 12,
    "word_width": 8,
    "case_width": 3,
    "character_width": 6,
    "recased_share": 0.1,
}
NETWORKS = {
    "tag-characters": ("tag", 8),
    "ner-characters": ("ner", 8),
    "ner-words": ("ner", 0),
    "ner-bioes": ("ner", 0),
}
"""Task, and width of the character biLSTM."""


def train(name, checkpoint=None, **replaced):
    """Train one of `NETWORKS`, with some options replaced."""
    task, character_hidden = NETWORKS[name]
    make = {"tag": tag_sentences, "ner": ner_sentences}[task]
    sentences, dev = make(200), make(50, seed=2)
    labels = tuple(sorted({tag for sentence in sentences for tag in sentence.tags}))
    scheme = "bioes" if name == "ner-bioes" else "bio"
    options = BilstmCrfOptions(
        **{**OPTIONS, "character_hidden": character_hidden, "scheme": scheme, **replaced}
    )
    constraints = constraints_of(task, labels)
    return estimate(sentences, dev, labels, constraints, options, None, 0, checkpoint)


def lstm_states():
    """Weights, inputs and states of a biLSTM as PyTorch computes them."""
    torch.manual_seed(0)
    layer = TwoWayLstm(3, 4)
    lengths = [2, 0, 5, 1, 2]
    elements = torch.randn(sum(lengths), 3)
    ways = (layer.ahead, layer.back)
    states = [
        layer(part[:, None], torch.tensor([len(part)]))[:, 0]
        for part in elements.split(lengths)
        if len(part)
    ]
    return {
        "lengths": torch.tensor(lengths).numpy(),
        "elements": elements.numpy(),
        "inputs": torch.stack([way.weight_ih_l0 for way in ways]).detach().numpy(),
        "bias": torch.stack([way.bias_ih_l0 + way.bias_hh_l0 for way in ways]).detach().numpy(),
        "recurrent": torch.stack([way.weight_hh_l0 for way in ways]).detach().numpy(),
        "states": torch.cat(states).reshape(sum(lengths), 2, 4).detach().numpy(),
    }


if __name__ == "__main__":
    for name in NETWORKS:
        write_network(name, train(name))
    save_file(lstm_states(), FOLDER / "lstm.safetensors")
