"""Runs the network of one of our models in PyTorch, 32 sentences at a time: ``MODEL TEXTS``.

Our tokenizer, our weights, our padded batches of training; sentences sorted by length, and a
Viterbi in PyTorch.
"""

import sys
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import torch

from benchmarks.peers.protocol import serve
from benchmarks.peers.pytorch.viterbi import Viterbi
from service.config import Settings
from service.store.directory import constraints_of, read_manifest, read_parameters
from service.taggers.bilstm_crf import states_of
from service.text.conll import TaggedSentence
from service.text.spans import spans_of_path
from service.text.tokenizer import Tokenizer
from service.text.tokens import Tokens
from service.training.batches import Batches
from service.training.network_parameters import network_of

SENTENCES_AT_ONCE = 32


class Recogniser:
    """Finds the spans of texts with the network of a model."""

    def __init__(self, name: str) -> None:
        directory = Settings().models_path / name
        manifest = read_manifest(directory)
        allowed = constraints_of(manifest.task, manifest.labels)
        parameters = read_parameters(directory, manifest)
        self._labels, constraints = states_of(parameters, allowed)
        self._network, self._vocabulary = network_of(parameters, allowed)
        crf = self._network.crf
        self._viterbi = Viterbi(
            crf.transitions + torch.tensor(constraints.transitions).float(),
            crf.start + torch.tensor(constraints.start).float(),
            crf.end + torch.tensor(constraints.end).float(),
        )
        self._tokenizer = Tokenizer()

    def find(self, texts: list[str]) -> Iterator[list[object]]:
        """The spans of each text, with their places."""
        documents = [self._tokenizer.tokenize(text) for text in texts]
        sentences = [
            TaggedSentence(tuple(tokens.words[first:end]), (self._labels[0],) * (end - first))
            for tokens in documents
            for first, end in pairwise(tokens.sentence_offsets.tolist())
        ]
        paths = iter(self._tag(sentences))
        for tokens in documents:
            mine = [next(paths) for _ in range(len(tokens.sentence_offsets) - 1)]
            yield _spans(tokens, mine, self._labels)

    def _tag(self, sentences: list[TaggedSentence]) -> list[np.ndarray]:
        ranked = sorted(range(len(sentences)), key=lambda i: len(sentences[i].words))
        batches = Batches(
            [sentences[i] for i in ranked],
            self._vocabulary,
            {self._labels[0]: 0},
            SENTENCES_AT_ONCE,
        )
        found = []
        with torch.inference_mode():
            for batch in batches.in_order():
                tags = self._viterbi.best_paths(self._network.emissions(batch), batch.lengths)
                columns = zip(tags.T.numpy(), batch.lengths.tolist(), strict=True)
                found += [column[:length] for column, length in columns]
        paths: list[np.ndarray] = [np.empty(0, np.int64)] * len(sentences)
        for i, path in zip(ranked, found, strict=True):
            paths[i] = path
        return paths


def _spans(tokens: Tokens, paths: list[np.ndarray], labels: tuple[str, ...]) -> list[object]:
    starts, ends = tokens.starts, tokens.ends
    assert starts is not None
    assert ends is not None
    path = np.concatenate([np.empty(0, np.int64), *paths])
    return [
        (span.label, int(starts[span.token_start]), int(ends[span.token_end - 1]))
        for span in spans_of_path(path, labels)
    ]


def main(name: str, texts_file: str) -> None:
    """Measure a model."""
    torch.set_num_threads(1)
    recogniser = Recogniser(name)
    serve(recogniser.find, texts_file, {"PyTorch": torch.__version__})


if __name__ == "__main__":
    main(*sys.argv[1:])
