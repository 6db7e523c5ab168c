"""Viterbi decoding of packed batches: the best path of every sentence at once.

The recurrence is Viterbi's (1967) as Jurafsky and Martin give it in the chapter on sequence
labelling, in the log domain. Two things make it fast in NumPy, and both are exact:

- The batch has no padding. Sentences are ranked by falling length, so those that still have a
  token at step t are the first ``active[t]``; the cells of a step lie side by side.
- No back-pointers are stored. Filling a cell needs the max alone; the predecessor that won is
  found again along the one path that is traced back, which costs O(K) a token, not O(K * K).
"""

import numpy as np
from numpy.typing import NDArray

from service.decoding.scores import ChainScores, Floats
from service.errors import NoValidPath, ScoresError


def best_paths(scores: ChainScores) -> NDArray[np.int64]:
    """Find the tags with the highest score for every sentence.

    Parameters
    ----------
    scores : M tokens, K tags, S sentences; minus infinity forbids a tag or a transition.

    Returns
    -------
    (M,) int64 tag ids, in the order of the tokens. Of equal scores the lowest id wins, from the
    last token backwards.

    Raises
    ------
    NoValidPath
        Where every path of a sentence scores minus infinity.
    ScoresError
        Where a sentence's best score is NaN or plus infinity.
    """
    if len(scores.emissions) == 0:
        return np.empty(0, dtype=np.int64)
    ranked, token_of, active = _by_step(scores.offsets)
    cells = scores.emissions[token_of].astype(np.float64)  # (M, K) rows by step, then by rank
    with np.errstate(invalid="ignore"):  # inf - inf makes a NaN, which is found below
        final = _fill(cells, active, scores)  # (S, K)
    best = final.max(axis=1)  # (S,)
    if not (best < np.inf).all():
        sentence = ranked[np.flatnonzero(~(best < np.inf))[0]]
        raise ScoresError(f"sentence {sentence}: the best score is NaN or plus infinity")
    if (best == -np.inf).any():
        raise NoValidPath(int(ranked[np.flatnonzero(best == -np.inf)[0]]))
    paths = np.empty(len(cells), dtype=np.int64)
    paths[token_of] = _trace(cells, active, scores.transitions, final.argmax(axis=1))
    return paths


def viterbi_cells(scores: ChainScores) -> NDArray[np.float64]:
    """The trellis: the score of the best path to every tag of every token.

    Parameters
    ----------
    scores : M tokens, K tags.

    Returns
    -------
    (M, K) float64 v_t(k), `start` included, `end` not, in the order of the tokens. Minus infinity
    where no path leads.
    """
    if len(scores.emissions) == 0:
        return np.empty(scores.emissions.shape)
    _, token_of, active = _by_step(scores.offsets)
    cells = np.empty(scores.emissions.shape)
    by_step = scores.emissions[token_of].astype(np.float64)
    with np.errstate(invalid="ignore"):
        _fill(by_step, active, scores)
    cells[token_of] = by_step
    return cells


def _by_step(offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], list[int]]:
    """Lay the tokens of a batch out by time step.

    Returns
    -------
    ranked : (S,) the sentences that have tokens, the longest first.
    token_of : (M,) the tokens by step, and within a step by rank of their sentence.
    active : T counts, how many sentences have a token at each step.
    """
    lengths = np.diff(offsets)
    ranked = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths)]
    lengths = lengths[ranked]
    active = np.searchsorted(-lengths, -np.arange(lengths[0]), side="left")  # (T,) lengths > t
    step = np.repeat(np.arange(len(active)), active)  # (M,)
    rank = np.arange(len(step)) - (np.cumsum(active) - active)[step]  # (M,)
    return ranked, offsets[ranked][rank] + step, active.tolist()


def _fill(
    cells: NDArray[np.float64], active: list[int], scores: ChainScores
) -> NDArray[np.float64]:
    """Turn emissions into Viterbi cells, in place; return (S, K) scores of ending with each tag."""
    final = np.empty((active[0], cells.shape[1]))
    before = cells[: active[0]]  # (n, K) the cells of the step before
    before += scores.start
    final[:] = before
    row = active[0]
    for count in active[1:]:
        here = cells[row : row + count]  # (n, K)
        here += (before[:count, :, None] + scores.transitions).max(axis=1)
        final[:count] = here
        before = here
        row += count
    return final + scores.end


def _trace(
    cells: NDArray[np.float64],
    active: list[int],
    transitions: Floats,
    last: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Follow the best path back from the `last` tags (S,); return the tags (M,) by cell row."""
    into = np.ascontiguousarray(transitions.T)  # (K, K) into[j, i] goes from tag i to tag j
    path = np.empty(len(cells), dtype=np.int64)
    tag = last  # (S,) the tag of each sentence at the step, or its last tag
    row = len(cells)
    for step in range(len(active) - 1, -1, -1):
        count = active[step]
        row -= count
        path[row : row + count] = tag[:count]
        if step:
            before = cells[row - active[step - 1] :][:count]  # (n, K)
            tag[:count] = (before + into[tag[:count]]).argmax(axis=1)
    return path
