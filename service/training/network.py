"""The network of the biLSTM-CRF (Huang, Xu and Yu 2015) with characters (Lample et al. 2016).

A word's input is a concatenation of parts: its vector, its case's vector and, where the model
reads characters, the last states of a character biLSTM. A biLSTM reads the inputs of a sentence,
and a linear layer turns its states into emissions.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from service.decoding import Constraints
from service.training.crf_loss import ChainCrf


@dataclass(frozen=True, slots=True)
class Batch:
    """B padded sentences of up to T words, over N different words of up to C characters.

    Attributes
    ----------
    vectors, cases : (N,) what a word's vectors are looked up by.
    characters : (C, N) ids, padded.
    character_counts : (N,) at least one.
    words : (T, B) which of the N words stands there; padded with any.
    lengths : (B,) words of each sentence.
    tags : (T, B) gold tag ids; padded with any.
    """

    vectors: Tensor
    cases: Tensor
    characters: Tensor
    character_counts: Tensor
    words: Tensor
    lengths: Tensor
    tags: Tensor


class TwoWayLstm(nn.Module):  # type: ignore[misc]  # PyTorch is unknown here
    """A forward and a backward LSTM over padded sequences.

    The backward one reads each sequence reversed within its own length, so that padding comes
    last for both and no packing is needed, which makes it twice as fast on a CPU.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.ahead = nn.LSTM(width, hidden)
        self.back = nn.LSTM(width, hidden)

    def forward(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """The states of both directions at every step: (T, B, D) to (T, B, 2 H)."""
        order = _reversal(lengths, len(inputs))  # (T, B)
        ahead, _ = self.ahead(inputs)
        back, _ = self.back(_reordered(inputs, order))
        return torch.cat([ahead, _reordered(back, order)], dim=2)

    def last(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """The last state of both directions: (T, B, D) to (B, 2 H)."""
        ahead, _ = self.ahead(inputs)
        back, _ = self.back(_reordered(inputs, _reversal(lengths, len(inputs))))
        ends = (lengths - 1, torch.arange(len(lengths)))
        return torch.cat([ahead[ends], back[ends]], dim=1)


def _reversal(lengths: Tensor, steps: int) -> Tensor:
    """Where step t of a reversed sequence comes from: (T, B); padding stays in its place."""
    step = torch.arange(steps)[:, None]
    return torch.where(step < lengths, lengths - 1 - step, step)


def _reordered(inputs: Tensor, order: Tensor) -> Tensor:
    """Rows (T, B, D) of each sequence in the order (T, B)."""
    return inputs.gather(0, order[:, :, None].expand(-1, -1, inputs.shape[2]))


@dataclass(frozen=True, slots=True)
class Widths:
    """How wide the layers are; `characters` and `character_hidden` are 0 without characters."""

    cases: int
    characters: int
    character_hidden: int
    hidden: int


class BilstmCrf(nn.Module):  # type: ignore[misc]  # PyTorch is unknown here
    """The network.

    Parameters
    ----------
    word_vectors : (V + 1, D) pretrained or random; the last row is that of unknown words.
    cases : how many kinds of case there are.
    characters : how many characters are known; one more row is that of the others.
    widths : of the layers.
    dropout : share of the inputs and of the states of the biLSTM that is dropped in training.
    constraints : of the K tags.
    """

    def __init__(
        self,
        word_vectors: Tensor,
        cases: int,
        characters: int,
        widths: Widths,
        dropout: float,
        constraints: Constraints,
    ) -> None:
        super().__init__()
        self.word_vectors = nn.Embedding.from_pretrained(word_vectors, freeze=False, sparse=True)
        self.case_vectors = nn.Embedding(cases, widths.cases)
        width = word_vectors.shape[1] + widths.cases
        self.reads_characters = widths.character_hidden > 0
        if self.reads_characters:
            self.character_vectors = nn.Embedding(characters + 1, widths.characters)
            self.spelling = TwoWayLstm(widths.characters, widths.character_hidden)
            width += 2 * widths.character_hidden
        self.dropout = nn.Dropout(dropout)
        self.context = TwoWayLstm(width, widths.hidden)
        self.output = nn.Linear(2 * widths.hidden, len(constraints.start))
        self.crf = ChainCrf(constraints)

    def word_inputs(self, batch: Batch) -> Tensor:
        """The inputs of the N different words: (N, D)."""
        parts = [self.word_vectors(batch.vectors), self.case_vectors(batch.cases)]
        if self.reads_characters:
            characters = self.character_vectors(batch.characters)  # (C, N, ...)
            parts.append(self.spelling.last(characters, batch.character_counts))
        return torch.cat(parts, dim=1)

    def emissions(self, batch: Batch) -> Tensor:
        """The score of every tag at every word: (T, B, K)."""
        inputs = self.dropout(self.word_inputs(batch)[batch.words])  # (T, B, D)
        states = self.context(inputs, batch.lengths)
        scores: Tensor = self.output(self.dropout(states))
        return scores

    def forward(self, batch: Batch) -> Tensor:
        """The loss."""
        loss: Tensor = self.crf(self.emissions(batch), batch.tags, batch.lengths)
        return loss
