"""`ChainScores`: what a tagger says of a packed batch, and all that the decoder needs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.errors import ScoresError

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class ChainScores:
    """Log-domain scores of every tag sequence of S sentences with M tokens and K tags.

    The score of the path y of a sentence of T tokens is
    ``start[y0] + sum_t emissions[t, y_t] + sum_t transitions[y_(t-1), y_t] + end[y_(T-1)]``.

    Attributes
    ----------
    emissions : (M, K) score of tag k at token m; all sentences one after another.
    transitions : (K, K) ``transitions[i, j]`` goes from tag i to tag j.
    start : (K,) score of beginning a sentence with tag k.
    end : (K,) score of ending a sentence with tag k.
    offsets : (S + 1,) int64; sentence s has the tokens ``offsets[s]`` to ``offsets[s + 1]``.

    Minus infinity forbids; NaN and plus infinity are no scores.

    Raises
    ------
    ScoresError
        Where the shapes do not fit, or `transitions`, `start` or `end` hold NaN or plus infinity.
        Emissions are checked by the decoder, which sees them anyway.
    """

    emissions: Floats
    transitions: Floats
    start: Floats
    end: Floats
    offsets: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.emissions.ndim != 2 or self.emissions.shape[1] == 0:
            raise ScoresError(f"emissions: expected (M, K), K > 0, got {self.emissions.shape}")
        tokens, tags = self.emissions.shape
        for name, expected in (("transitions", (tags, tags)), ("start", (tags,)), ("end", (tags,))):
            array = getattr(self, name)
            if array.shape != expected:
                raise ScoresError(f"{name}: expected {expected}, got {array.shape}")
            if not (array < np.inf).all():  # NaN is not less than anything
                raise ScoresError(f"{name}: NaN or plus infinity")
        offsets = self.offsets
        if (
            offsets.ndim != 1
            or len(offsets) == 0
            or offsets[0] != 0
            or offsets[-1] != tokens
            or (offsets[1:] < offsets[:-1]).any()
        ):
            raise ScoresError(f"offsets: expected (S + 1,) rising from 0 to {tokens}")
