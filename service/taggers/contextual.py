"""Where contextual vectors come from: words in their sentences in, layers out."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from service.taggers.base import Parameters
from service.text.tokens import Offsets


class ContextualVectors(Protocol):
    """A model that reads sentences. Immutable after load, safe to share by threads.

    Attributes
    ----------
    layers, width : L and D.
    """

    @property
    def layers(self) -> int:
        """L."""

    @property
    def width(self) -> int:
        """D."""

    def encode(self, words: Sequence[str], sentence_offsets: Offsets) -> NDArray[np.float32]:
        """What each layer says of each of M words in its sentence: (M, L, D).

        Parameters
        ----------
        words : M strings, none empty.
        sentence_offsets : (S + 1,) int64.
        """


class ContextualMix:
    """The mix of the L layers of a source that a tagger has learned.

    Parameters
    ----------
    source : of contextual vectors.
    parameters : with ``mix_weights`` (L,), which sum to one, and ``mix_scale`` (1,).

    Raises
    ------
    ValueError
        Where one is missing or does not fit.
    """

    def __init__(self, source: ContextualVectors, parameters: Parameters) -> None:
        self._source = source
        weights = parameters.array("mix_weights", (source.layers,))
        scale = parameters.array("mix_scale", (1,))
        self._weights = (weights * scale).astype(np.float32)  # (L,)

    def encode(self, words: Sequence[str], sentence_offsets: Offsets) -> NDArray[np.float32]:
        """The mix at each of M words: (M, D)."""
        layers = self._source.encode(words, sentence_offsets)  # (M, L, D)
        mixed: NDArray[np.float32] = np.matmul(self._weights, layers)
        return mixed
