"""Which tag sequences are allowed, as data: minus infinity added to scores once, at load."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Constraints:
    """Zero where allowed, minus infinity where not; added to the scores of the same names.

    Attributes
    ----------
    transitions : (K, K) float64, from tag i to tag j.
    start, end : (K,) float64.
    """

    transitions: NDArray[np.float64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]

    @classmethod
    def none(cls, tags: int) -> "Constraints":
        """Allow every sequence of K tags."""
        return cls(np.zeros((tags, tags)), np.zeros(tags), np.zeros(tags))


def bio_constraints(labels: Sequence[str]) -> Constraints:
    """Allow strict IOB2 alone: ``I-X`` follows ``B-X`` or ``I-X``, and never begins a sentence.

    Parameters
    ----------
    labels : K BIO tags; the label of a tag is what follows its first hyphen.
    """
    # The label of a span that a tag continues or may be continued in; O has none.
    parts = [label.partition("-") for label in labels]
    inside = np.array([prefix == "I" for prefix, _, _ in parts], dtype=np.bool_)  # (K,)
    names = np.array([name for _, _, name in parts])  # (K,)
    outside = np.array([label == "O" for label in labels], dtype=np.bool_)  # (K,)
    continues = (names[:, None] == names[None, :]) & ~outside[:, None]  # (K, K)
    allowed = ~inside[None, :] | continues
    return Constraints(
        transitions=np.where(allowed, 0.0, -np.inf),
        start=np.where(inside, -np.inf, 0.0),
        end=np.zeros(len(parts)),
    )
