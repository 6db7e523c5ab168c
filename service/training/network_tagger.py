"""A network that is in training, or was just trained, as a tagger: to measure it."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch

from service.decoding import ChainScores, Constraints, Transitions
from service.taggers.contextual import ContextualVectors
from service.text.conll import TaggedSentence
from service.text.tokens import Offsets
from service.training.batches import Batches, Vocabulary
from service.training.network import BilstmCrf

_SENTENCES_AT_ONCE = 32


class NetworkTagger:
    """Scores words with PyTorch; see `service.taggers.base.Tagger`.

    Parameters
    ----------
    network : the network.
    vocabulary : what words are looked up in.
    labels : the K tags.
    constraints : added to the scores.
    source : of contextual vectors, where the network reads some.
    """

    probabilistic = True

    def __init__(
        self,
        network: BilstmCrf,
        vocabulary: Vocabulary,
        labels: tuple[str, ...],
        constraints: Constraints,
        source: ContextualVectors | None = None,
    ) -> None:
        self.labels = labels
        self._network = network
        self._vocabulary = vocabulary
        self._constraints = constraints
        self._source = source

    def score(self, words: Sequence[str], sentence_offsets: Offsets) -> ChainScores:
        """Score a packed batch; see `service.taggers.base.Tagger.score`."""
        self._network.eval()
        lengths = np.diff(sentence_offsets)
        ranked = [s for s in np.argsort(lengths, kind="stable").tolist() if lengths[s]]
        bounds = list(pairwise(sentence_offsets.tolist()))
        sentences = [
            TaggedSentence(tuple(words[a:b]), (self.labels[0],) * (b - a))
            for a, b in (bounds[s] for s in ranked)
        ]
        emissions = np.empty((len(words), len(self.labels)), dtype=np.float32)
        batches = Batches(
            sentences, self._vocabulary, {self.labels[0]: 0}, _SENTENCES_AT_ONCE, self._source
        )
        done = 0
        with torch.inference_mode():
            for batch in batches.in_order():
                scores = self._network.emissions(batch).numpy()  # (T, B, K)
                for column, sentence in enumerate(ranked[done : done + _SENTENCES_AT_ONCE]):
                    first, end = bounds[sentence]
                    emissions[first:end] = scores[: end - first, column]
                done += _SENTENCES_AT_ONCE
        crf, allowed = self._network.crf, self._constraints
        transitions = Transitions(
            crf.transitions.detach().numpy() + allowed.transitions,
            crf.start.detach().numpy() + allowed.start,
            crf.end.detach().numpy() + allowed.end,
        )
        return ChainScores(emissions, transitions, sentence_offsets)
