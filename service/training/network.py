"""The network of the biLSTM-CRF (Huang, Xu and Yu 2015) with characters (Lample et al. 2016).

A word's input is a concatenation of parts: its vector, its case's vector and, where the model
reads characters, the last states of a character biLSTM. A biLSTM reads the inputs of a sentence;
further ones may each read the states of the one below, and add to them (He et al. 2016). A linear
layer turns the states into emissions.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from service.decoding import Constraints
from service.training.crf_loss import ChainCrf
from service.training.word_network import TwoWayLstm, WordNetwork, WordTypes


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is expected of B padded sentences; see `service.training.distillation.Expectation`.

    Attributes
    ----------
    tags : (T, B, K) padded with zeros.
    moves : (B, K, K)
    """

    tags: Tensor
    moves: Tensor


@dataclass(frozen=True, slots=True)
class Batch:
    """B padded sentences of up to T words, over N different words.

    Attributes
    ----------
    types : the N words.
    words : (T, B) which of the N words stands there; padded with any.
    lengths : (B,) words of each sentence.
    tags : (T, B) gold tag ids; padded with any.
    layers : (T, B, L, D) contextual vectors, padded; None where the network reads none.
    lesson : what teachers and gold tags say; None where gold tags alone do.
    """

    types: WordTypes
    words: Tensor
    lengths: Tensor
    tags: Tensor
    layers: Tensor | None
    lesson: Lesson | None


class LayerMix(nn.Module):  # type: ignore[misc]  # PyTorch is unknown here
    """A weighted sum of the L layers of contextual vectors, scaled (Peters et al. 2018).

    Parameters
    ----------
    layers, width : L and D.
    """

    def __init__(self, layers: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.logits = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(1))

    def weights(self) -> Tensor:
        """The weights of the layers: (L,)."""
        return self.logits.softmax(0)

    def forward(self, layers: Tensor) -> Tensor:
        """The mix: (..., L, D) to (..., D)."""
        mixed: Tensor = self.scale * (self.weights() @ layers)
        return mixed


class BilstmCrf(nn.Module):  # type: ignore[misc]  # PyTorch is unknown here
    """The network.

    Parameters
    ----------
    words : reads words.
    mix : of the contextual vectors, where it reads some.
    hidden : H, the width of the biLSTMs, a direction.
    layers : how many biLSTMs there are, at least one.
    dropout : share of the inputs and of the states of the biLSTMs that is dropped in training.
    constraints : of the K tags.
    """

    def __init__(
        self,
        words: WordNetwork,
        mix: LayerMix | None,
        hidden: int,
        layers: int,
        dropout: float,
        constraints: Constraints,
    ) -> None:
        super().__init__()
        self.words = words
        self.mix = mix
        self.dropout = nn.Dropout(dropout)
        width = words.width + (mix.width if mix else 0)
        self.layers = nn.ModuleList(
            TwoWayLstm(2 * hidden if i else width, hidden) for i in range(layers)
        )
        self.output = nn.Linear(2 * hidden, len(constraints.start))
        self.crf = ChainCrf(constraints)

    def emissions(self, batch: Batch) -> Tensor:
        """The score of every tag at every word: (T, B, K)."""
        inputs = self.words(batch.types)[batch.words]  # (T, B, ...)
        if self.mix is not None:
            inputs = torch.cat([inputs, self.mix(batch.layers)], dim=2)
        states = self.layers[0](self.dropout(inputs), batch.lengths)  # (T, B, 2 H)
        for lstm in self.layers[1:]:
            states = states + lstm(self.dropout(states), batch.lengths)
        scores: Tensor = self.output(self.dropout(states))
        return scores

    def forward(self, batch: Batch) -> Tensor:
        """The loss."""
        emissions = self.emissions(batch)
        if batch.lesson is not None:
            lesson = batch.lesson
            return self.crf.cross_entropy(emissions, lesson.tags, lesson.moves, batch.lengths)
        loss: Tensor = self.crf(emissions, batch.tags, batch.lengths)
        return loss
