"""Contextual vectors that are kept: a frozen source says the same of a sentence in every epoch."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from service.taggers.contextual import ContextualVectors
from service.text.tokens import Offsets, Tokens


class KeptVectors:
    """Asks a source once for each sentence; see `service.taggers.contextual.ContextualVectors`.

    Parameters
    ----------
    source : what is asked.
    most_words : of how many words the vectors are kept, those of the sentences that came first.
    """

    def __init__(self, source: ContextualVectors, most_words: int) -> None:
        self.layers = source.layers
        self.width = source.width
        self._source = source
        self._room = most_words
        self._kept: dict[tuple[str, ...], NDArray[np.float32]] = {}

    def encode(self, words: Sequence[str], sentence_offsets: Offsets) -> NDArray[np.float32]:
        """See `service.taggers.contextual.ContextualVectors.encode`: (M, L, D)."""
        sentences = [tuple(words[a:b]) for a, b in pairwise(sentence_offsets.tolist())]
        found = {s: self._kept[s] for s in sentences if s in self._kept}
        asked = Tokens.from_sentences(list(dict.fromkeys(s for s in sentences if s not in found)))
        layers = self._source.encode(asked.words, asked.sentence_offsets)
        for first, end in pairwise(asked.sentence_offsets.tolist()):
            sentence, mine = tuple(asked.words[first:end]), layers[first:end]
            found[sentence] = mine
            if len(sentence) <= self._room:
                self._room -= len(sentence)
                self._kept[sentence] = mine.copy()
        empty = np.empty((0, self.layers, self.width), dtype=np.float32)
        return np.concatenate([empty, *(found[sentence] for sentence in sentences)])
