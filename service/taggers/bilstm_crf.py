"""The biLSTM-CRF (Huang, Xu and Yu 2015), with or without characters (Lample et al. 2016).

A bidirectional LSTM reads the inputs of a sentence's words; a linear layer turns its states into
emissions; transitions, start and end scores are learned with it. Further LSTMs may each read the
states of the one below and add to them (residual connections, He et al. 2016). What a word gives
to the gates of the first LSTM depends on the word alone, so it is computed once a word
(`word_rows`): a step of the LSTM adds what the state before gives. Where it has contextual vectors
too, a mix of their layers gives to the gates as well.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from service.decoding import ChainScores, Constraints, Transitions, bioes_constraints
from service.layers.lstm import Floats, bilstm
from service.taggers.base import Parameters
from service.taggers.contextual import ContextualMix, ContextualVectors
from service.taggers.word_inputs import WordInputs, read_lstm
from service.taggers.word_rows import UnseenWords, WordRows
from service.text.bioes import bio_of
from service.text.tokens import Offsets, consecutive, offsets_of
from service.text.words import chosen

_ROWS_AT_ONCE = 1024

_TOKENS_AT_ONCE = 2048
"""Sentences go through the network together until they have as many: bounds the memory, which is
some 25 kB a token with two layers, and a step of the LSTM stays within the processor's cache."""


class BilstmCrfTagger:
    """A biLSTM-CRF.

    Parameters
    ----------
    parameters : of K tags:

        - what the inputs are made of: see `WordInputs`
        - the weights ``context_*`` of the biLSTM, and ``context2_*`` and so on of those above
          it, where there are any: see `layer_names` and `read_lstm`
        - ``output`` (2 H, K) and ``output_bias`` (K,) of the linear layer
        - ``transitions`` (K, K), ``start`` (K,) and ``end`` (K,)
        - ``words`` vocabulary: the words whose rows are made at load, at least one
        - where it works in BIOES, the vocabulary ``states``: see `states_of`; K is then theirs
    constraints : added to the scores.
    max_unseen_words : how many rows of other words are kept.
    source : of contextual vectors of L layers, which come last in the inputs; then also

        - ``mix_weights`` (L,) of the layers, which sum to one, and ``mix_scale`` (1,)

    Raises
    ------
    ValueError
        Where an array or a vocabulary is missing or does not fit.
    """

    probabilistic = True

    def __init__(
        self,
        parameters: Parameters,
        constraints: Constraints,
        max_unseen_words: int,
        source: ContextualVectors | None = None,
    ) -> None:
        self.labels, constraints = states_of(parameters, constraints)
        tags = len(self.labels)
        self._transitions = Transitions(
            parameters.array("transitions", (tags, tags)) + constraints.transitions,
            parameters.array("start", (tags,)) + constraints.start,
            parameters.array("end", (tags,)) + constraints.end,
        )
        self._inputs = WordInputs(parameters)
        width = self._inputs.width + (source.width if source else 0)
        self._context = read_lstm(parameters, "context", width)
        self._mix = ContextualMix(source, parameters) if source else None
        hidden = self._context.recurrent.shape[1]
        width = 2 * hidden
        above = layer_names(parameters)[1:]
        self._above = [read_lstm(parameters, name, width, hidden) for name in above]
        self._output = parameters.array("output", (width, tags)).astype(np.float32)
        self._output_bias = parameters.array("output_bias", (tags,)).astype(np.float32)
        words = parameters.vocabulary("words")
        if not words or "" in words:
            raise ValueError("the vocabulary words is empty or has an empty entry")
        self._rows = WordRows(words, self._make_rows(words), self._make_rows, max_unseen_words)

    @property
    def unseen_words(self) -> UnseenWords:
        """See `service.taggers.base.CachingTagger.unseen_words`."""
        return self._rows.unseen_words

    def score(self, words: Sequence[str], sentence_offsets: Offsets) -> ChainScores:
        """Score a packed batch; see `service.taggers.base.Tagger.score`."""
        emissions = np.empty((len(words), len(self.labels)), dtype=np.float32)
        for tokens, offsets in _parts(sentence_offsets):
            emissions[tokens] = self._emissions(chosen(words, tokens), offsets)
        return ChainScores(emissions, self._transitions, sentence_offsets)

    def _emissions(self, words: Sequence[str], offsets: Offsets) -> Floats:
        """The emissions of N words: (N, K)."""
        projected = self._rows.gather(words)  # (N, 2, 4 H)
        if self._mix is not None:
            mixed = self._mix.encode(words, offsets)  # (N, D)
            weights = self._context.inputs[self._inputs.width :]  # (D, 2, 4 H)
            projected += np.tensordot(mixed, weights, 1)
        states = bilstm(projected, self._context.recurrent, offsets)  # (N, 2, H)
        states = states.reshape(len(words), len(self._output))
        for lstm in self._above:
            read = bilstm(lstm.project(states), lstm.recurrent, offsets)
            states += read.reshape(states.shape)
        emissions: Floats = states @ self._output
        return emissions + self._output_bias

    def _make_rows(self, words: Sequence[str]) -> Floats:
        """What N words give to the gates of the LSTM: (N, 2, 4 H)."""
        parts = [words[i : i + _ROWS_AT_ONCE] for i in range(0, len(words), _ROWS_AT_ONCE)]
        weights = replace(self._context, inputs=self._context.inputs[: self._inputs.width])
        return np.concatenate([weights.project(self._inputs.encode(p)) for p in parts])


def layer_name(layer: int) -> str:
    """What the weights of a biLSTM begin with; the lowest layer, which reads words, is 1."""
    return "context" if layer == 1 else f"context{layer}"


def layer_names(parameters: Parameters) -> list[str]:
    """The names of the biLSTMs of a network, from the lowest up."""
    begun = {name.partition("_")[0] for name in parameters.arrays if name.startswith("context")}
    return [layer_name(layer) for layer in range(1, len(begun) + 1)]


def states_of(
    parameters: Parameters, constraints: Constraints
) -> tuple[tuple[str, ...], Constraints]:
    """The tag that each of the K states of a network bears outside, and what they allow.

    A network may work in BIOES, with the vocabulary ``states`` (K). Outside B and S are B, I and E
    are I: two states bear one tag, so paths and marginals fold by what they are called.

    Raises
    ------
    ValueError
        Where a state bears no label of the model.
    """
    if "states" not in parameters.vocabularies:
        return parameters.labels, constraints
    states = parameters.vocabulary("states")
    labels = tuple(map(bio_of, states))
    if set(labels) != set(parameters.labels):
        raise ValueError("the vocabulary states does not fit the labels")
    tag_ids = [parameters.labels.index(label) for label in labels]
    return labels, constraints.of_states(tag_ids) + bioes_constraints(states)


def _parts(sentence_offsets: Offsets) -> Iterator[tuple[Offsets, Offsets]]:
    """Cut a packed batch into smaller ones, of sentences of about equal length.

    Yields
    ------
    tokens : (N,) the tokens of a part.
    offsets : of the part's sentences, as in any packed batch.
    """
    lengths = np.diff(sentence_offsets)
    ranked = np.argsort(lengths, kind="stable")  # (S,)
    ends = np.cumsum(lengths[ranked])
    first = 0
    while first < len(ranked):
        limit = ends[first] - lengths[ranked[first]] + _TOKENS_AT_ONCE
        end = max(first + 1, int(np.searchsorted(ends, limit, side="right")))
        part = ranked[first:end]
        yield consecutive(sentence_offsets[part], lengths[part]), offsets_of(lengths[part])
        first = end
