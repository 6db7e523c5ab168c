"""Makes the stored networks and states again: `python -m tests.train.store` in .venv-train."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file

from service.store.directory import constraints_of
from service.text.spelling import BOUNDARY
from service.training.bilstm_crf import estimate
from service.training.bilstm_crf_options import BilstmCrfOptions
from service.training.language_model_directory import read_language_model
from service.training.language_model_parameters import language_model_of
from service.training.pretrain import pretrain
from service.training.pretraining_recipe import LanguageModelRecipe
from service.training.text_stream import TypeTable
from service.training.word_network import TwoWayLstm
from tests.made_corpora import ner_sentences, tag_sentences, write_columns
from tests.made_networks import FOLDER, LANGUAGE_MODEL_SENTENCES, write_network

OPTIONS = {
    "epochs": 25,
    "sentences_at_once": 8,
    "learning_rate": 0.02,
    "dropout": 0.1,
    "hidden": 12,
    "word_width": 8,
    "case_width": 3,
    "character_width": 6,
    "character_hidden": 0,
    "recased_share": 0.1,
}
NETWORKS = {
    "tag-characters": ("tag", {"character_hidden": 8}),
    "tag-layers": ("tag", {"layers": 3, "hidden": 8}),
    "ner-characters": ("ner", {"character_hidden": 8}),
    "ner-words": ("ner", {}),
    "ner-bioes": ("ner", {"scheme": "bioes"}),
    "ner-elmo": ("ner", {}),
}
"""Task, and what its options have beside `OPTIONS`."""

LANGUAGE_MODEL_OPTIONS = {
    "tokens": 20_000,
    "hidden": 8,
    "case_width": 3,
    "word_width": 8,
    "character_width": 5,
    "character_hidden": 4,
    "words": 50,
    "text_words": 50,
    "targets": 100,
    "cutoffs": [20],
    "recased_share": 0.1,
    "streams": 4,
    "steps": 16,
    "learning_rate": 0.02,
    "held_out": 50,
    "measurements": 3,
}


def train(name, checkpoint=None, **replaced):
    """Train one of `NETWORKS`, with some options replaced."""
    task, options = NETWORKS[name]
    make = {"tag": tag_sentences, "ner": ner_sentences}[task]
    sentences, dev = make(200), make(50, seed=2)
    labels = tuple(sorted({tag for sentence in sentences for tag in sentence.tags}))
    checked = BilstmCrfOptions(**{**OPTIONS, **options, **replaced})
    constraints = constraints_of(task, labels)
    read = language_model() if name == "ner-elmo" else None
    return estimate(sentences, dev, labels, constraints, checked, None, 0, checkpoint, read)


@cache
def language_model():
    """The parameters of a small language model of the made language."""
    with tempfile.TemporaryDirectory() as folder:
        pretrain_made(Path(folder), Path(folder) / "model")
        return read_language_model(Path(folder) / "model")[1]


def pretrain_made(data, out, state=None, **replaced):
    """Pretrain a small language model on made sentences, with some options replaced."""
    write_columns(data / "text.tsv", ner_sentences(1000))
    text = {"name": "Made", "licence": "none", "url": "https://example.org/"}
    recipe = LanguageModelRecipe(
        version="1.0.0",
        description="Made.",
        language="xx",
        licence="none",
        options={**LANGUAGE_MODEL_OPTIONS, **replaced},
        texts=[{**text, "format": "columns", "files": ["text.tsv"]}],
    )
    return pretrain(recipe, data, out, state)


def torch_layers(model, vocabulary, sentences):
    """What each layer of a language model says of the M words of sentences: (M, L, D)."""
    found = [torch.empty(0, 1 + len(model.ways[0]), 2 * model.narrow.out_features)]
    for sentence in filter(None, sentences):
        types = list(dict.fromkeys([BOUNDARY, *sentence]))
        words = torch.tensor([types.index(word) for word in sentence])[:, None]
        read = TypeTable(types, vocabulary).take(np.arange(len(types)))
        with torch.inference_mode():
            found.append(model.layers(read, words, torch.tensor([len(sentence)]))[:, 0])
    return torch.cat(found).numpy()


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
    write_network("language-model", language_model())
    layers = torch_layers(*language_model_of(language_model()), LANGUAGE_MODEL_SENTENCES)
    save_file({"layers": layers}, FOLDER / "language-model-layers.safetensors")
