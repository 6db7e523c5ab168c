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


@dataclass(frozen=True, slots=True, eq=False)
class Transitions:
    """What a model says of tags beside each other, whatever the words; made once, at load.

    Attributes
    ----------
    between : (K, K) ``between[i, j]`` goes from tag i to tag j.
    start : (K,) score of beginning a sentence with tag k.
    end : (K,) score of ending a sentence with tag k.
    into : (K, K) `between` the other way round: ``into[j, i]`` comes to tag j from tag i.
    lead : (K, K), or None where it would seldom help. A tag i that scores more than ``lead[b, i]``
        below tag b at a token is on no best path that goes on: whatever tag comes next, it is
        better reached from b.

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
    lead: NDArray[np.float64] | None = field(init=False)

    def __post_init__(self) -> None:
        tags = len(self.between)
        for name, expected in (("between", (tags, tags)), ("start", (tags,)), ("end", (tags,))):
            array = getattr(self, name)
            if array.shape != expected:
                raise ScoresError(f"{name}: expected {expected}, got {array.shape}")
            if not (array < np.inf).all():  # NaN is not less than anything
                raise ScoresError(f"{name}: NaN or plus infinity")
        object.__setattr__(self, "into", np.ascontiguousarray(self.between.T))
        object.__setattr__(self, "lead", _lead(self.between) if tags >= _MANY_TAGS else None)

    def tempered(self, temperature: float) -> "Transitions":
        """The same divided by a temperature, which is over 0; what is forbidden stays so."""
        divided = copy(self)
        for part in fields(self):
            if (array := getattr(self, part.name)) is not None:
                object.__setattr__(divided, part.name, _divided(array, temperature))
        return divided


def _lead(between: Floats) -> NDArray[np.float64] | None:
    """``lead[b, i] = max over j of between[i, j] - between[b, j]``: see `Transitions`."""
    lead = np.empty(between.shape)
    for b, row in enumerate(between):
        with np.errstate(invalid="ignore"):  # inf - inf: neither of them leads to j
            gain = between - row  # (K, K) by i and j
        lead[b] = np.where(between == -np.inf, -np.inf, gain).max(axis=1)
    # Under BIO, say, I-X is reached from few tags, and no other stands in for them.
    return lead if np.median(lead) < np.inf else None


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
