"""The loss of a linear-chain CRF: the negative log-likelihood of the gold tags.

The normaliser is the forward algorithm in log space (Lafferty, McCallum and Pereira 2001; Lample
et al. 2016), over a padded batch; gradients are PyTorch's.
"""

import torch
from torch import Tensor, nn

from service.decoding import Constraints

_FORBIDDEN = -10_000.0
"""Stands for minus infinity, whose gradients would be NaN where nothing is allowed."""


class ChainCrf(nn.Module):  # type: ignore[misc]  # PyTorch is unknown here
    """Learned transitions, start and end scores of K tags, constraints included.

    Parameters
    ----------
    constraints : of K tags; a path that they forbid gets no probability.
    """

    def __init__(self, constraints: Constraints) -> None:
        super().__init__()
        tags = len(constraints.start)
        self.transitions = nn.Parameter(torch.zeros(tags, tags))
        self.start = nn.Parameter(torch.zeros(tags))
        self.end = nn.Parameter(torch.zeros(tags))
        for name in ("transitions", "start", "end"):
            forbidden = torch.tensor(getattr(constraints, name), dtype=torch.float32)
            self.register_buffer(f"forbidden_{name}", forbidden.clamp(min=_FORBIDDEN))

    def forward(self, emissions: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
        """The mean negative log-likelihood of a batch of B sentences.

        Parameters
        ----------
        emissions : (T, B, K) scores, padded.
        tags : (T, B) gold tag ids, padded with any tag.
        lengths : (B,) tokens of each sentence, at least one.
        """
        likelihood = self.path_score(emissions, tags, lengths) - self.log_partition(
            emissions, lengths
        )
        return -likelihood.mean()

    def cross_entropy(
        self, emissions: Tensor, tags: Tensor, moves: Tensor, lengths: Tensor
    ) -> Tensor:
        """The mean cross-entropy of a batch to chains of which the expectations are given.

        Parameters
        ----------
        emissions : (T, B, K) scores, padded.
        tags : (T, B, K) the probability of each tag at each word, padded with zeros.
        moves : (B, K, K) how often each tag is expected to follow each.
        lengths : (B,) tokens of each sentence, at least one.
        """
        last = tags[lengths - 1, torch.arange(len(lengths))]  # (B, K)
        expected = (
            tags[0] @ self.start
            + (emissions * tags).sum(dim=(0, 2))
            + (self.transitions * moves).sum(dim=(1, 2))
            + last @ self.end
        )
        return (self.log_partition(emissions, lengths) - expected).mean()

    def path_score(self, emissions: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
        """The score of the given paths: (B,)."""
        transitions, start, end = self._scores()
        steps, sentences = tags.shape
        inside = torch.arange(steps)[:, None] < lengths  # (T, B)
        chosen = emissions.gather(2, tags[:, :, None]).squeeze(2)  # (T, B)
        moves = transitions[tags[:-1], tags[1:]]  # (T - 1, B)
        last = tags[lengths - 1, torch.arange(sentences)]  # (B,)
        return (
            start[tags[0]]
            + (chosen * inside).sum(dim=0)
            + (moves * inside[1:]).sum(dim=0)
            + end[last]
        )

    def log_partition(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """The log of the sum over all paths of exp(score): (B,)."""
        transitions, start, end = self._scores()
        forward = start + emissions[0]  # (B, K) the log-sum of all paths to each tag
        for step in range(1, len(emissions)):
            into = torch.logsumexp(forward[:, :, None] + transitions, dim=1) + emissions[step]
            forward = torch.where((step < lengths)[:, None], into, forward)
        return torch.logsumexp(forward + end, dim=1)

    def _scores(self) -> tuple[Tensor, Tensor, Tensor]:
        return (
            self.transitions + self.forbidden_transitions,
            self.start + self.forbidden_start,
            self.end + self.forbidden_end,
        )
