"""Viterbi over a padded batch, as one writes it in PyTorch: with back-pointers, in eager mode."""

import torch
from torch import Tensor


class Viterbi:
    """The best paths of a batch.

    Parameters
    ----------
    transitions, start, end : (K, K), (K,) and (K,) scores, constraints included.
    """

    def __init__(self, transitions: Tensor, start: Tensor, end: Tensor) -> None:
        self._transitions, self._start, self._end = transitions, start, end

    def best_paths(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """Tags of (T, B, K) padded emissions: (T, B); beyond a sentence's end its last tag."""
        stay = torch.arange(emissions.shape[2])
        cells = self._start + emissions[0]  # (B, K)
        pointers = []
        for step in range(1, len(emissions)):
            best, before = (cells[:, :, None] + self._transitions).max(dim=1)
            inside = (step < lengths)[:, None]
            cells = torch.where(inside, best + emissions[step], cells)
            pointers.append(torch.where(inside, before, stay))
        path = [(cells + self._end).argmax(dim=1)]  # (B,)
        for before in reversed(pointers):
            path.append(before.gather(1, path[-1][:, None])[:, 0])
        return torch.stack(path[::-1])
