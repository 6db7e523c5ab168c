"""Forward-backward over packed batches: what the scores say as probabilities.

The recurrences are those of Baum (1972) as Rabiner (1989) gives them, over the same `ChainScores`
that Viterbi decodes, and in the same order of cells. Every row of cells is shifted so that its
largest is zero, and the shifts are kept beside them: however long a sentence is, what is added up
stays of the size of one token's scores.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from service.decoding.scores import ChainScores, Floats, Transitions
from service.errors import NoValidPath
from service.text.tokens import by_step, offsets_of

_SUMS_AT_ONCE = 2**17
"""So many stay in the processor's cache until they are added up."""

_SMALLEST_EXPONENT = -700.0
"""exp of what is smaller loses digits, and then is zero."""

_NO_PATH = -1e300
"""What rows of nothing but minus infinity are shifted by: they stay what they are."""

Flags = NDArray[np.bool_]
Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """The probabilities of the tags of S sentences with M tokens and K states.

    The probability of a path is exp(score) over the sum of exp(score) of all paths of its sentence.

    Attributes
    ----------
    log_partition : (S,) the log of that sum; zero of a sentence without tokens.
    marginals : (M, K) the probability of each state at each token; each row sums to one.
    """

    log_partition: NDArray[np.float64]
    marginals: NDArray[np.float64] = field(init=False)
    _scores: ChainScores
    _steps: "_Steps"
    _forward: NDArray[np.float64]  # (M, K) cells, each row shifted
    _shifts: NDArray[np.float64]  # (M,)
    _backward: NDArray[np.float64]  # (M, K) cells, each row shifted, the token's own score left out

    def __post_init__(self) -> None:
        cells = self._forward + self._backward
        if cells.size:
            cells -= cells.max(axis=1, keepdims=True)
        np.exp(cells, out=cells)
        cells /= cells.sum(axis=1, keepdims=True)
        object.__setattr__(self, "marginals", cells)

    def label_marginals(self, label_ids: Ids) -> NDArray[np.float64]:
        """The probability of each label at each token.

        Parameters
        ----------
        label_ids : (K,) the label that each state bears; ids up to L - 1, each of which is there.

        Returns
        -------
        (M, L) rows that sum to one.
        """
        labels = int(label_ids.max()) + 1
        if labels == len(label_ids):
            return self.marginals[:, np.argsort(label_ids)]
        bears = label_ids[:, None] == np.arange(labels)  # (K, L)
        sums = self.marginals @ bears.astype(np.float64)
        return np.asarray(np.minimum(sums, 1.0))

    @np.errstate(divide="ignore")  # log(0): no path
    def span_probabilities(
        self, starts: Ids, ends: Ids, begins: Flags, continues: Flags
    ) -> NDArray[np.float64]:
        """The probability that N ranges of tokens are exactly a span each.

        That is: the first token is in a state that begins the span, the others are in one that
        continues it, and the token after them is not, or is of another sentence.

        Parameters
        ----------
        starts, ends : (N,) half-open ranges of tokens, none empty, each within a sentence.
        begins, continues : (N, K) the states that begin and continue the span of each.
        """
        if not len(starts):
            return np.empty(0)
        # Forward over the paths alone that are right so far, with the shifts of all paths.
        span_of, step, active = by_step(offsets_of(ends - starts))
        ranked = span_of[: len(starts)]
        token_of = starts[span_of] + step
        sums = np.where(begins[ranked], self._forward[starts[ranked]], -np.inf)  # (N, K)
        row = len(starts)
        for count in active[1:]:
            tokens = token_of[row : row + count]
            sums[:count] = self._step(sums[:count], tokens, continues[ranked[:count]])
            row += count
        offsets = self._scores.offsets
        lasts = ends[ranked] - 1  # (N,)
        goes_on = np.flatnonzero(ends[ranked] < offsets[offsets.searchsorted(lasts, "right")])
        lasts[goes_on] += 1
        sums[goes_on] = self._step(sums[goes_on], lasts[goes_on], ~continues[ranked[goes_on]])
        backward = self._backward[lasts]  # (N, K)
        share = _log_sum(sums + backward) - _log_sum(self._forward[lasts] + backward)
        probabilities = np.empty(len(starts))
        probabilities[ranked] = np.minimum(np.exp(share), 1.0)
        return probabilities

    def expected_moves(self) -> NDArray[np.float64]:
        """How often each state is expected to follow each in a sentence: (S, K, K)."""
        offsets, between = self._scores.offsets, self._scores.transitions.between
        after = self._scores.emissions + self._backward  # (M, K)
        moves = np.zeros((len(offsets) - 1, *between.shape))
        for sentence, (first, end) in enumerate(pairwise(offsets.tolist())):
            cells = self._forward[first : end - 1, :, None] + between + after[first + 1 : end, None]
            if cells.size:  # (T - 1, K, K), of which each (K, K) sums to one
                cells -= cells.max(axis=(1, 2), keepdims=True)
                np.exp(cells, out=cells)
                moves[sentence] = (cells / cells.sum(axis=(1, 2), keepdims=True)).sum(axis=0)
        return moves

    def _step(self, sums: NDArray[np.float64], tokens: Ids, states: Flags) -> NDArray[np.float64]:
        """Forward to the tokens (n,), through the states (n, K) alone."""
        emissions = self._scores.emissions[tokens]  # (n, K)
        here = self._steps.sum(sums) + emissions - self._shifts[tokens, None]
        return np.where(states, here, -np.inf)


@np.errstate(divide="ignore")  # log(0): no path
def forward_backward(scores: ChainScores) -> Posterior:
    """Find the probabilities of all tags of every sentence.

    Parameters
    ----------
    scores : M tokens, K tags, S sentences; minus infinity forbids a tag or a transition.

    Raises
    ------
    NoValidPath
        Where every path of a sentence scores minus infinity.
    ScoresError
        Where an emission is NaN or plus infinity.
    """
    emissions, offsets = scores.emissions, scores.offsets
    steps = _Steps(scores.transitions.between)
    log_partition = np.zeros(len(offsets) - 1)
    forward, backward = np.empty(emissions.shape), np.empty(emissions.shape)
    shifts = np.empty(len(emissions))
    if len(emissions):
        scores.check_emissions()
        sentence_of, step, active = by_step(offsets)
        token_of = offsets[sentence_of] + step  # (M,)
        cells = emissions[token_of].astype(np.float64)  # (M, K) rows by step, then by rank
        backward[token_of] = _fill_backward(cells, active, scores.transitions)
        shift, final = _fill_forward(cells, active, steps, scores.transitions)
        forward[token_of], shifts[token_of] = cells, shift
        ranked = sentence_of[: active[0]]
        log_partition += np.bincount(sentence_of, shift, len(log_partition))
        log_partition[ranked] += _log_sum(final)
        if (dead := log_partition == -np.inf).any():
            raise NoValidPath(int(dead.argmax()))
    return Posterior(log_partition, scores, steps, forward, shifts, backward)


def _fill_forward(
    cells: NDArray[np.float64], active: list[int], steps: "_Steps", transitions: Transitions
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Turn emissions into forward cells, in place.

    Returns
    -------
    shifts : (M,) what each row was lowered by.
    final : (S, K) the last cells of each sentence, with its end.
    """
    shifts = np.empty(len(cells))
    final = np.empty((active[0], cells.shape[1]))
    before = cells[: active[0]]  # (n, K) the cells of the step before
    before += transitions.start
    row = 0
    for step, count in enumerate(active):
        here = cells[row : row + count]  # (n, K)
        if step:
            here += steps.sum(before[:count])
        shifts[row : row + count] = _shift(here)
        final[:count] = here
        before = here
        row += count
    return shifts, final + transitions.end


def _fill_backward(
    cells: NDArray[np.float64], active: list[int], transitions: Transitions
) -> NDArray[np.float64]:
    """The backward cells (M, K) of emissions: of what comes after a token."""
    steps = _Steps(transitions.into)
    backward = np.empty(cells.shape)
    row, later = len(cells), 0  # `later` sentences have a token at the step after
    after = cells[row:]  # (later, K) the cells of that step, with the emissions
    for count in active[::-1]:
        row -= count
        here = backward[row : row + count]  # (n, K)
        here[later:] = transitions.end
        if later:
            here[:later] = steps.sum(after)
        _shift(here)
        after = here + cells[row : row + count]
        _shift(after)
        later = count
    return backward


def _shift(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lower rows (n, K) in place so that the largest of each is zero; by how much: (n,)."""
    largest: NDArray[np.float64] = np.maximum(rows.max(axis=1), _NO_PATH)
    rows -= largest[:, None]
    return largest


class _Steps:
    """Sums over all states that a step comes from.

    Parameters
    ----------
    between : (K, K) scores of going from state i to state j.
    """

    def __init__(self, between: Floats) -> None:
        possible = between[between > -np.inf]
        self._between = between
        self._largest = possible.max(initial=-np.inf) if len(possible) else 0.0
        self._factors = np.exp(between - self._largest, dtype=np.float64)
        spread = self._largest - possible.min(initial=self._largest)
        self._too_small = _SMALLEST_EXPONENT + spread

    def sum(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """``log sum over i of exp(rows[n, i] + between[i, j])``: (n, K) to (n, K).

        No row may hold more than zero. It is a product of matrices, unless a term is so small
        beside others that it would be lost: it may be all that is left where those are forbidden.
        """
        if ((rows < self._too_small) & (rows > -np.inf)).any():
            return self._log_sums(rows)
        sums = np.exp(rows) @ self._factors
        np.log(sums, out=sums)
        sums += self._largest
        return sums

    def _log_sums(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = np.empty_like(rows)
        some = max(1, _SUMS_AT_ONCE // self._between.size)
        for i in range(0, len(rows), some):
            terms = rows[i : i + some, None, :] + self._between.T  # (n, K, K) by n, j, i
            sums[i : i + some] = _log_sum(terms)
        return sums


def _log_sum(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """The log of the sum of exp over the last axis; minus infinity of nothing else."""
    largest = np.maximum(terms.max(axis=-1, keepdims=True), _NO_PATH)
    sums = np.log(np.exp(terms - largest).sum(axis=-1))
    return np.asarray(sums + largest[..., 0])
