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

    def __add__(self, other: "Constraints") -> "Constraints":
        """Allow what both allow."""
        return Constraints(
            self.transitions + other.transitions, self.start + other.start, self.end + other.end
        )

    def of_states(self, tag_ids: Sequence[int]) -> "Constraints":
        """The same for states, of which several may bear one tag.

        Parameters
        ----------
        tag_ids : the tag of each state.
        """
        return Constraints(
            self.transitions[np.ix_(tag_ids, tag_ids)], self.start[tag_ids], self.end[tag_ids]
        )

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


def bioes_constraints(states: Sequence[str]) -> Constraints:
    """Allow whole spans alone: B, then any number of I, then E, of one label; or S by itself.

    Parameters
    ----------
    states : K BIOES tags.
    """
    parts = [state.partition("-") for state in states]
    goes_on = np.array([prefix in ("B", "I") for prefix, _, _ in parts], dtype=np.bool_)  # (K,)
    is_inner = np.array([prefix in ("I", "E") for prefix, _, _ in parts], dtype=np.bool_)  # (K,)
    names = np.array([name for _, _, name in parts])  # (K,)
    same = names[:, None] == names[None, :]  # (K, K)
    allowed = np.where(goes_on[:, None], is_inner[None, :] & same, ~is_inner[None, :])
    return Constraints(
        transitions=np.where(allowed, 0.0, -np.inf),
        start=np.where(is_inner, -np.inf, 0.0),
        end=np.where(goes_on, -np.inf, 0.0),
    )
