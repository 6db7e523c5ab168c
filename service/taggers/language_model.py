"""The language model of two directions, as Peters et al. (2018) read it: layers for each word.

A forward and a backward LSTM of L - 1 layers read the same inputs, which depend on the word alone.
Each sentence is read on its own, between two boundaries.
"""

from collections.abc import Sequence
from typing import cast

import numpy as np

from service.layers.lstm import Floats, bilstm
from service.taggers.base import Parameters
from service.taggers.word_inputs import WordInputs, read_lstm
from service.taggers.word_rows import WordRows
from service.text.spelling import BOUNDARY
from service.text.tokens import Offsets, offsets_of

_ROWS_AT_ONCE = 1024


class LanguageModel:
    """Reads sentences; see `service.taggers.contextual.ContextualVectors`.

    Parameters
    ----------
    parameters : of LSTMs of H states a direction:

        - what words are read by: see `WordInputs`
        - ``narrow`` (W, H) and ``narrow_bias`` (H,), a linear layer: from W numbers of a word to
          those that the LSTMs read
        - the weights ``layer1_*``, ``layer2_*`` and so on of the LSTMs, at least of one: see
          `read_lstm`; a direction reads what its own layer below gives, and from the second on
          a layer adds to that
    words : those whose inputs are computed at load.
    max_unseen_words : of how many other words they are kept.

    Raises
    ------
    ValueError
        Where an array or a vocabulary is missing or does not fit.
    """

    def __init__(self, parameters: Parameters, words: Sequence[str], max_unseen_words: int) -> None:
        self._words = WordInputs(parameters)
        self._narrow = parameters.array("narrow", (self._words.width, None)).astype(np.float32)
        hidden = self._narrow.shape[1]
        self._narrow_bias = parameters.array("narrow_bias", (hidden,)).astype(np.float32)
        self._lstms = [read_lstm(parameters, "layer1", hidden, hidden)]
        while f"layer{len(self._lstms) + 1}_recurrent" in parameters.arrays:
            name = f"layer{len(self._lstms) + 1}"
            self._lstms.append(read_lstm(parameters, name, hidden, hidden))
        self.layers = 1 + len(self._lstms)
        self.width = 2 * hidden
        known = [BOUNDARY, *(word for word in words if word != BOUNDARY)]
        self._rows = WordRows(known, self._read(known), self._read, max_unseen_words)

    def encode(self, words: Sequence[str], sentence_offsets: Offsets) -> Floats:
        """See `service.taggers.contextual.ContextualVectors.encode`: (M, L, 2 H)."""
        lengths = np.diff(sentence_offsets)
        offsets = offsets_of(lengths + 2)  # a boundary at both ends
        places = np.arange(len(words)) + np.repeat(1 + 2 * np.arange(len(lengths)), lengths)
        inputs = np.empty((offsets[-1], self._narrow.shape[1]), dtype=np.float32)
        inputs[offsets[:-1]] = inputs[offsets[1:] - 1] = self._rows.gather([BOUNDARY])
        inputs[places] = self._rows.gather(words)
        layers = np.empty((len(words), self.layers, 2, inputs.shape[1]), dtype=np.float32)
        layers[:, 0] = inputs[places, None]
        below = np.stack([inputs, inputs], axis=1)  # (M + 2 S, 2, H)
        for i, lstm in enumerate(self._lstms, start=1):
            states = bilstm(lstm.project_ways(below), lstm.recurrent, offsets)
            below = states + below if i > 1 else states
            layers[:, i] = below[places]
        return layers.reshape(len(words), self.layers, self.width)

    def _read(self, words: Sequence[str]) -> Floats:
        """What the LSTMs read of N words: (N, H)."""
        parts = [words[i : i + _ROWS_AT_ONCE] for i in range(0, len(words), _ROWS_AT_ONCE)]
        read = [self._words.encode(part) @ self._narrow + self._narrow_bias for part in parts]
        return cast(Floats, np.concatenate(read))
