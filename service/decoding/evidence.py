"""What is known of tokens beside what a model says: added to their emissions, so that it decodes
as everything else does."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from service.decoding.scores import ChainScores


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Tokens ``token_start`` to ``token_end`` (half-open) each have `scores` added.

    Attributes
    ----------
    scores : (K,) a number a state; minus infinity forbids it.
    """

    token_start: int
    token_end: int
    scores: NDArray[np.float64]

    def shifted(self, by: int) -> "Evidence":
        """The same, `by` tokens further."""
        return replace(self, token_start=self.token_start + by, token_end=self.token_end + by)

    def overlaps(self, first: int, end: int) -> bool:
        """Whether it is of a token from `first` to `end`."""
        return self.token_start < end and first < self.token_end

    def within(self, first: int, end: int) -> "Evidence":
        """What of it is of the tokens from `first` to `end`, counted from `first`."""
        start, stop = max(self.token_start, first), min(self.token_end, end)
        return replace(self, token_start=start - first, token_end=stop - first)


def with_evidence(scores: ChainScores, evidence: Sequence[Evidence]) -> ChainScores:
    """The scores of a packed batch with evidence of its tokens."""
    if not evidence:
        return scores
    emissions = scores.emissions.astype(np.float64)  # a copy: a tagger may keep its own
    for piece in evidence:
        emissions[piece.token_start : piece.token_end] += piece.scores
    return ChainScores(emissions, scores.transitions, scores.offsets)
