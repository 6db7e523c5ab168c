"""`ChainScores`: what a tagger says of a packed batch, and all that the decoder needs."""

from copy import copy
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.errors import ScoresError

Floats = NDArray[np.floating[Any]]

_MANY_TAGS = 16
"""With fewer, all pairs of tags are quicker looked at than told apart."""

_ROUNDING = 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class Transitions:
    """What a model says of tags beside each other, whatever the words; made once, at load.

    Attributes
    ----------
    between : (K, K) ``between[i, j]`` goes from tag i to tag j.
    start : (K,) score of beginning a sentence with tag k.
    end : (K,) score of ending a sentence with tag k.
    into : (K, K) `between` the other way round: ``into[j, i]`` comes to tag j from tag i.
    handicap : (K, K), or None where it would seldom help. A tag i whose emission is more than
        ``handicap[b, i]`` below that of tag b is on no best path: whatever the neighbours, a path
        is better with b.

    Minus infinity forbids; NaN and plus infinity are no scores.

    Raises
    ------
    ScoresError
        Where the shapes do not fit, or a number is NaN or plus infinity.
    """

    between: Floats
    start: Floats
    end: Floats
    into: Floats = field(init=False)
    handicap: NDArray[np.float64] | None = field(init=False)

    def __post_init__(self) -> None:
        tags = len(self.between)
        for name, expected in (("between", (tags, tags)), ("start", (tags,)), ("end", (tags,))):
            array = getattr(self, name)
            if array.shape != expected:
                raise ScoresError(f"{name}: expected {expected}, got {array.shape}")
            if not (array < np.inf).all():  # NaN is not less than anything
                raise ScoresError(f"{name}: NaN or plus infinity")
        object.__setattr__(self, "into", np.ascontiguousarray(self.between.T))
        handicap = _handicap(self) if tags >= _MANY_TAGS else None
        object.__setattr__(self, "handicap", handicap)

    def tempered(self, temperature: float) -> "Transitions":
        """The same divided by a temperature, which is over 0; what is forbidden stays so."""
        divided = copy(self)
        for part in fields(self):
            if (array := getattr(self, part.name)) is not None:
                object.__setattr__(divided, part.name, _divided(array, temperature))
        return divided


def _handicap(transitions: Transitions) -> NDArray[np.float64] | None:
    """The most that i gains over b by what stands before, and by what stands behind, together."""
    between = transitions.between.astype(np.float64)
    before = _most_gained(np.vstack([between, transitions.start]).T)
    behind = _most_gained(np.column_stack([between, transitions.end]))
    with np.errstate(invalid="ignore"):
        handicap = before + behind  # NaN of inf - inf: i has no neighbour on one side
    handicap[np.isnan(handicap)] = np.inf
    np.fill_diagonal(handicap, np.inf)  # none leaves itself out
    # Under BIO, say, I-X comes after few tags, and no other stands in for it.
    if (handicap == np.inf).mean() > 0.5:
        return None
    # More than any error of rounding, so that what is left out could not have changed a bit.
    finite = np.isfinite(handicap)
    handicap[finite] += _ROUNDING * (1 + np.abs(handicap[finite]))
    return handicap


def _most_gained(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """``gained[b, i] = max over n of scores[i, n] - scores[b, n]``, of (K, N) by neighbour."""
    gained = np.empty((len(scores), len(scores)))
    for b, row in enumerate(scores):
        with np.errstate(invalid="ignore"):  # inf - inf: neither has this neighbour
            gain = scores - row
        gained[b] = np.where(scores == -np.inf, -np.inf, gain).max(axis=1)
    return gained


@dataclass(frozen=True, slots=True)
class ChainScores:
    """Log-domain scores of every tag sequence of S sentences with M tokens and K tags.

    The score of the path y of a sentence of T tokens is
    ``start[y0] + sum_t emissions[t, y_t] + sum_t between[y_(t-1), y_t] + end[y_(T-1)]``.

    Attributes
    ----------
    emissions : (M, K) score of tag k at token m; all sentences one after another.
    transitions : scores of tags beside each other, at the beginning and at the end.
    offsets : (S + 1,) int64; sentence s has the tokens ``offsets[s]`` to ``offsets[s + 1]``.

    Minus infinity forbids; NaN and plus infinity are no scores.

    Raises
    ------
    ScoresError
        Where the shapes do not fit. Emissions are checked by the decoder, which sees them anyway.
    """

    emissions: Floats
    transitions: Transitions
    offsets: NDArray[np.int64]

    def __post_init__(self) -> None:
        tags = len(self.transitions.start)
        if self.emissions.ndim != 2 or self.emissions.shape[1] != tags or tags == 0:
            raise ScoresError(f"emissions: expected (M, {tags}), K > 0, got {self.emissions.shape}")
        offsets = self.offsets
        tokens = len(self.emissions)
        if (
            offsets.ndim != 1
            or len(offsets) == 0
            or offsets[0] != 0
            or offsets[-1] != tokens
            or (offsets[1:] < offsets[:-1]).any()
        ):
            raise ScoresError(f"offsets: expected (S + 1,) rising from 0 to {tokens}")

    def check_emissions(self) -> None:
        """Raise `ScoresError` where an emission is NaN or plus infinity."""
        if not (self.emissions < np.inf).all():  # NaN is not less than anything
            raise ScoresError("emissions: NaN or plus infinity")

    def tempered(self, temperature: float) -> "ChainScores":
        """The same divided by a temperature, over 0, which changes probabilities, and no path.

        Above 1 the probabilities of paths come nearer to each other, below 1 they part.
        """
        if temperature == 1:
            return self
        emissions = _divided(self.emissions, temperature)
        return ChainScores(emissions, self.transitions.tempered(temperature), self.offsets)


def _divided(scores: Floats, temperature: float) -> NDArray[np.float64]:
    # Not in float32, which would round the temperature too: of all tokens the same way.
    return np.asarray(np.divide(scores, temperature, dtype=np.float64))
