"""What a biLSTM-CRF reads of a word alone: its vector, its case, its characters."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from service.layers.lstm import LstmWeights, bilstm, lstm_weights
from service.taggers.base import Parameters
from service.text.spelling import CASES, case_of, characters_of, vector_keys
from service.text.tokens import offsets_of

Floats = NDArray[np.float32]


class WordInputs:
    """Turns words into the network's inputs, a concatenation of parts.

    Parameters
    ----------
    parameters : with

        - the vocabulary ``vector_words`` (V) and the arrays ``word_vectors`` (V + 1, D) int8 and
          ``word_vector_scales`` (V + 1,): row v is ``word_vectors[v] * word_vector_scales[v]``,
          the last one that of unknown words,
        - ``case_vectors`` (9, ...), by kind of case,
        - and where the model reads characters, the vocabulary ``characters`` (A), the arrays
          ``character_vectors`` (A + 1, ...), the last one that of unknown characters, and the
          weights ``character_*`` of a biLSTM, see `read_lstm`.

    Raises
    ------
    ValueError
        Where an array or a vocabulary is missing or does not fit.
    """

    def __init__(self, parameters: Parameters) -> None:
        self._word_ids = parameters.ids("vector_words")
        words = len(self._word_ids)
        # The table stays as small as it is stored; rows are scaled when they are looked up.
        self._word_vectors = parameters.arrays.get("word_vectors", np.empty(0))
        if self._word_vectors.dtype != np.int8 or self._word_vectors.ndim != 2:
            raise ValueError("the array word_vectors is missing or is not int8 of shape (any, any)")
        if len(self._word_vectors) != words + 1:
            raise ValueError(
                f"the array word_vectors has {len(self._word_vectors)} rows for {words} words"
            )
        scales = parameters.array("word_vector_scales", (words + 1,))
        self._scales = scales.astype(np.float32)
        self._case_vectors = parameters.array("case_vectors", (len(CASES), None)).astype(np.float32)
        self.width = self._word_vectors.shape[1] + self._case_vectors.shape[1]
        self._speller = Speller(parameters) if "characters" in parameters.vocabularies else None
        if self._speller is not None:
            self.width += self._speller.width

    def encode(self, words: Sequence[str]) -> Floats:
        """The inputs of N words: (N, D)."""
        rows = np.array([self._vector_row(word) for word in words], dtype=np.int64)
        parts = [
            self._word_vectors[rows] * self._scales[rows, None],
            self._case_vectors[[case_of(word) for word in words]],
        ]
        if self._speller is not None:
            parts.append(self._speller.encode(words))
        return np.concatenate(parts, axis=1)

    def _vector_row(self, word: str) -> int:
        ids = self._word_ids
        return next((ids[key] for key in vector_keys(word) if key in ids), -1)


class Speller:
    """Reads the spelling of words with a character biLSTM (Lample et al. 2016).

    Parameters
    ----------
    parameters : see `WordInputs`.
    """

    def __init__(self, parameters: Parameters) -> None:
        self._ids = parameters.ids("characters")
        vectors = parameters.array("character_vectors", (len(self._ids) + 1, None))
        weights = read_lstm(parameters, "character", vectors.shape[1])
        # A character gives the same to the gates wherever it stands.
        self._projected = weights.project(vectors.astype(np.float32))  # (A + 1, 2, 4 H)
        self._recurrent = weights.recurrent
        self.width = 2 * weights.recurrent.shape[1]

    def encode(self, words: Sequence[str]) -> Floats:
        """The last states of both directions for N words, none empty: (N, 2 H)."""
        spelled = [characters_of(word) for word in words]
        ids = np.array([self._ids.get(c, -1) for chars in spelled for c in chars], dtype=np.int64)
        offsets = offsets_of([len(chars) for chars in spelled])
        states = bilstm(self._projected[ids], self._recurrent, offsets)  # (characters, 2, H)
        return np.concatenate([states[offsets[1:] - 1, 0], states[offsets[:-1], 1]], axis=1)


def read_lstm(
    parameters: Parameters, name: str, width: int, states: int | None = None
) -> LstmWeights:
    """The weights of a bidirectional LSTM over inputs of D = `width`, named `name`.

    Parameters
    ----------
    parameters : with ``<name>_inputs`` (2, 4 H, D), ``<name>_bias`` (2, 4 H) and
        ``<name>_recurrent`` (2, 4 H, H), forward and backward, as `lstm_weights` takes them.
    name : how the arrays' names begin.
    width : D.
    states : what H has to be; None takes any.

    Raises
    ------
    ValueError
        Where one is missing or does not fit.
    """
    recurrent = parameters.array(f"{name}_recurrent", (2, None, None))
    gates, hidden = recurrent.shape[1:]
    if gates != 4 * hidden:
        raise ValueError(f"the array {name}_recurrent has {gates} rows for {hidden} states")
    if states not in (None, hidden):
        raise ValueError(f"{name} has {hidden} states, not {states}")
    return lstm_weights(
        parameters.array(f"{name}_inputs", (2, gates, width)),
        parameters.array(f"{name}_bias", (2, gates)),
        recurrent,
    )
