"""What the networks read of a word alone: its vector, its case and, where they do, its characters.

The parts are concatenated (Lample et al. 2016); a word is read once a batch.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

_WORDS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class WordTypes:
    """N different words of up to C characters.

    Attributes
    ----------
    vectors, cases : (N,) what a word's vectors are looked up by.
    characters : (C, N) ids, padded.
    character_counts : (N,) at least one.
    """

    vectors: Tensor
    cases: Tensor
    characters: Tensor
    character_counts: Tensor


@dataclass(frozen=True, slots=True)
class WordWidths:
    """How wide the parts are; `characters` and `character_hidden` are 0 without characters."""

    cases: int
    characters: int
    character_hidden: int


class TwoWayLstm(nn.Module):  # type: ignore[misc]  # PyTorch is unknown here
    """A forward and a backward LSTM over padded sequences.

    The backward one reads each sequence reversed within its own length, so that padding comes
    last for both and no packing is needed, which makes it twice as fast on a CPU.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.ahead = nn.LSTM(width, hidden)
        self.back = nn.LSTM(width, hidden)

    @property
    def ways(self) -> tuple[nn.LSTM, nn.LSTM]:
        """The two LSTMs."""
        return self.ahead, self.back

    def forward(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """The states of both directions at every step: (T, B, D) to (T, B, 2 H)."""
        order = reversal(lengths, len(inputs))  # (T, B)
        ahead, _ = self.ahead(inputs)
        back, _ = self.back(reordered(inputs, order))
        return torch.cat([ahead, reordered(back, order)], dim=2)

    def last(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """The last state of both directions: (T, B, D) to (B, 2 H)."""
        ahead, _ = self.ahead(inputs)
        back, _ = self.back(reordered(inputs, reversal(lengths, len(inputs))))
        ends = (lengths - 1, torch.arange(len(lengths)))
        return torch.cat([ahead[ends], back[ends]], dim=1)


def reversal(lengths: Tensor, steps: int) -> Tensor:
    """Where step t of a reversed sequence comes from: (T, B); padding stays in its place."""
    step = torch.arange(steps)[:, None]
    return torch.where(step < lengths, lengths - 1 - step, step)


def reordered(inputs: Tensor, order: Tensor) -> Tensor:
    """Rows (T, B, D) of each sequence in the order (T, B)."""
    return inputs.gather(0, order[:, :, None].expand(-1, -1, inputs.shape[2]))


class WordNetwork(nn.Module):  # type: ignore[misc]  # PyTorch is unknown here
    """Reads words.

    Parameters
    ----------
    vectors : (V + 1, D) pretrained or random; the last row is that of unknown words.
    cases : how many kinds of case there are.
    characters : how many characters are known; one more row is that of the others.
    widths : of the parts.
    """

    def __init__(self, vectors: Tensor, cases: int, characters: int, widths: WordWidths) -> None:
        super().__init__()
        self.vectors = nn.Embedding.from_pretrained(vectors, freeze=False, sparse=True)
        self.case_vectors = nn.Embedding(cases, widths.cases)
        self.width = vectors.shape[1] + widths.cases
        self.reads_characters = widths.character_hidden > 0
        if self.reads_characters:
            self.character_vectors = nn.Embedding(characters + 1, widths.characters)
            self.spelling = TwoWayLstm(widths.characters, widths.character_hidden)
            self.width += 2 * widths.character_hidden

    def forward(self, types: WordTypes) -> Tensor:
        """The parts of N words: (N, D)."""
        parts = [self.vectors(types.vectors), self.case_vectors(types.cases)]
        if self.reads_characters:
            parts.append(self._spell(types))
        return torch.cat(parts, dim=1)

    def _spell(self, types: WordTypes) -> Tensor:
        """What the character biLSTM says of N words: (N, 2 h).

        A few words at a time, without the padding of the longest of all, which is most of it.
        """
        states = []
        counts_of_parts = types.character_counts.split(_WORDS_AT_ONCE)
        parts = types.characters.split(_WORDS_AT_ONCE, dim=1)  # each (C, n)
        for characters, counts in zip(parts, counts_of_parts, strict=True):
            vectors = self.character_vectors(characters[: int(counts.max())])
            states.append(self.spelling.last(vectors, counts))
        return torch.cat(states)
