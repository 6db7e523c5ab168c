"""The network of a language model of two directions (Peters et al. 2018).

A forward and a backward LSTM of two layers read the same inputs of words, and foretell the next
word and the one before through the same softmax, an adaptive one (Grave et al. 2017). They share
nothing else. The second layer adds to what the first gives.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from service.training.word_network import WordNetwork, WordTypes, reordered, reversal

States = list[list[tuple[Tensor, Tensor]]]
"""The state (1, B, H) and the cell of each layer, of each direction."""


@dataclass(frozen=True, slots=True)
class Segment:
    """T steps of B streams in both directions, over N different words.

    Attributes
    ----------
    types : the N words.
    words : (2, T, B) which of them stands there: what the forward direction reads, and what the
        backward one does.
    targets : (2, T, B) what comes next in that direction: classes of the softmax.
    """

    types: WordTypes
    words: Tensor
    targets: Tensor


class LanguageModel(nn.Module):  # type: ignore[misc]  # PyTorch is unknown here
    """The network.

    Parameters
    ----------
    words : reads words.
    hidden : H, the width of a direction's layers, and of what they read.
    layers : how many LSTMs each direction has.
    classes : what can be foretold, the frequent first.
    cutoffs : of the adaptive softmax.
    """

    def __init__(
        self, words: WordNetwork, hidden: int, layers: int, classes: int, cutoffs: Sequence[int]
    ) -> None:
        super().__init__()
        self.words = words
        self.narrow = nn.Linear(words.width, hidden)
        self.ways = nn.ModuleList(
            nn.ModuleList(nn.LSTM(hidden, hidden) for _ in range(layers)) for _ in range(2)
        )
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(hidden, classes, list(cutoffs))

    def inputs(self, types: WordTypes) -> Tensor:
        """What the LSTMs read of N words: (N, H)."""
        narrowed: Tensor = self.narrow(self.words(types))
        return narrowed

    def forward(self, segment: Segment, states: States | None) -> tuple[Tensor, States]:
        """The losses in nats, (2, T, B), and the states to go on from."""
        inputs = self.inputs(segment.types)  # (N, H)
        seen, after = [], []
        for i, words in enumerate(segment.words):
            outputs, last = self._read(i, inputs[words], states[i] if states else None)
            seen.append(outputs[-1])
            after.append(last)
        flat = torch.stack(seen).flatten(0, 2)  # (2 T B, H)
        log_probs = self.softmax(flat, segment.targets.flatten()).output
        return -log_probs.reshape(segment.targets.shape), after

    def layers(self, types: WordTypes, words: Tensor, lengths: Tensor) -> Tensor:
        """What each layer says of each word of B padded sentences, read from a state of zero.

        Parameters
        ----------
        types : N words, the first of which is the boundary.
        words : (T, B) which of them stands there.
        lengths : (B,).

        Returns
        -------
        (T, B, L, 2 H): first what the LSTMs read, twice; then the layers, forward and backward.
        """
        inputs = self.inputs(types)
        order = reversal(lengths, len(words))
        rows = inputs[words]  # (T, B, H)
        boundary = inputs[:1].expand(1, len(lengths), -1)
        ahead, _ = self._read(0, torch.cat([boundary, rows]), None)
        back, _ = self._read(1, torch.cat([boundary, reordered(rows, order)]), None)
        layers = [torch.cat([rows, rows], dim=2)]
        for there, here in zip(ahead, back, strict=True):
            layers.append(torch.cat([there[1:], reordered(here[1:], order)], dim=2))
        return torch.stack(layers, dim=2)

    def _read(
        self, way: int, inputs: Tensor, states: list[tuple[Tensor, Tensor]] | None
    ) -> tuple[list[Tensor], list[tuple[Tensor, Tensor]]]:
        """What each layer of a direction gives, (T, B, H) each, and its last states."""
        outputs: list[Tensor] = []
        after = []
        for i, lstm in enumerate(self.ways[way]):
            read, (state, cell) = lstm(inputs, states[i] if states else None)
            inputs = read + inputs if i else read
            outputs.append(inputs)
            after.append((state.detach(), cell.detach()))
        return outputs, after
