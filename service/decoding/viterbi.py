"""Viterbi decoding of packed batches: the best path of every sentence at once.

The recurrence is Viterbi's (1967) as Jurafsky and Martin give it in the chapter on sequence
labelling, in the log domain. Three things make it fast in NumPy, and all are exact:

- The batch has no padding. Sentences are ranked by falling length, so those that still have a
  token at step t are the first ``active[t]``; the cells of a step lie side by side.
- No back-pointers are stored. Filling a cell needs the max alone; the predecessor that won is
  found again along the one path that is traced back, which costs O(K) a token, not O(K * K).
- Of many tags, only those are looked at that may be on a best path (`service.decoding.sparse`).
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from service.decoding.scores import ChainScores, Floats, Transitions
from service.decoding.sparse import sparse_lattice
from service.errors import NoValidPath, ScoresError
from service.text.tokens import by_step, last_rows

_FEW_SUMS = 2**14
"""So many sums of a cell and a transition are made at once, where few of them are needed."""

_SUMS_AT_ONCE = 2**15
"""So many stay in the processor's cache until the largest is found."""

_FEW_TAGS = 16
"""With so few, the cells of a tag lie side by side, else those of a token: the innermost loop of
a sum is over the more of the two."""


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
    if len(scores.offsets) == 2:
        return _best_path(scores.emissions.astype(np.float64), scores.transitions)
    sentence_of, step, active = by_step(scores.offsets)
    token_of = scores.offsets[sentence_of] + step  # (M,)
    best, path = _best_rows(scores, token_of, active)  # (S,), (M,)
    valid = np.isfinite(best)
    if not valid.all():
        first = int(np.flatnonzero(~valid)[0])
        raise _no_best_path(int(sentence_of[first]), best[first])
    paths = np.empty(len(path), dtype=np.int64)
    paths[token_of] = path
    return paths


def _best_rows(
    scores: ChainScores, token_of: NDArray[np.int64], active: list[int]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The best score of each sentence by rank, (S,), and the tags of its path by row, (M,)."""
    transitions = scores.transitions
    with np.errstate(invalid="ignore"):  # inf - inf makes a NaN, which the best score is then
        if transitions.handicap is not None:
            lattice = sparse_lattice(scores.emissions, transitions.handicap, token_of, active)
            if lattice is not None:
                return lattice.best_paths(transitions)
        cells = _cells(scores, token_of)
        final = _fill(cells, active, transitions)  # (S, K)
        path = _trace(cells, active, transitions.into, final.argmax(axis=1))
    return final.max(axis=1), path


def _best_path(cells: NDArray[np.float64], transitions: Transitions) -> NDArray[np.int64]:
    """The same for one sentence of T tokens: half the calls, where they are all the cost.

    Takes emissions (T, K), and turns them into cells in place.
    """
    into = transitions.into
    before = cells[0]
    before += transitions.start
    back = None
    with np.errstate(invalid="ignore"):
        # Where all sums are quickly made at once, they tell the best predecessors too.
        if cells.size * len(into) < _FEW_SUMS:
            sums = cells[1:, :, None] + into  # (T - 1, K, K)
            for here, cell in zip(sums, cells[1:], strict=True):
                here += before
                before = np.maximum.reduce(here, axis=1, out=cell)
            back = sums.argmax(axis=2)  # (T - 1, K)
        else:
            for here in cells[1:]:
                here += np.maximum.reduce(into + before, axis=1)
                before = here
        before = before + transitions.end
    last = int(before.argmax())
    if not math.isfinite(before[last]):
        raise _no_best_path(0, before[last])
    path = [last]
    if back is not None:
        for step in back[::-1].tolist():
            path.append(step[path[-1]])
    else:
        for before in cells[-2::-1]:
            path.append(int((before + into[path[-1]]).argmax()))
    return np.array(path[::-1], dtype=np.int64)


def _no_best_path(sentence: int, best: float) -> NoValidPath | ScoresError:
    if best == -np.inf:
        return NoValidPath(sentence)
    return ScoresError(f"sentence {sentence}: the best score is NaN or plus infinity")


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
    sentence_of, step, active = by_step(scores.offsets)
    token_of = scores.offsets[sentence_of] + step
    cells = np.empty(scores.emissions.shape)
    filled = _cells(scores, token_of)
    with np.errstate(invalid="ignore"):
        _fill(filled, active, scores.transitions)
    cells[token_of] = filled
    return cells


def _cells(scores: ChainScores, token_of: NDArray[np.int64]) -> NDArray[np.float64]:
    """The emissions (M, K) with their rows by step, then by rank: `_fill` makes cells of them."""
    order: Literal["F", "C"] = "F" if scores.emissions.shape[1] <= _FEW_TAGS else "C"
    return scores.emissions[token_of].astype(np.float64, order=order)


def _fill(
    cells: NDArray[np.float64], active: list[int], transitions: Transitions
) -> NDArray[np.float64]:
    """Turn emissions into Viterbi cells, in place; return (S, K) scores of ending with each tag."""
    row = active[0]
    before = cells[:row]  # (n, K) the cells of the step before
    before += transitions.start
    for count in active[1:]:
        here = cells[row : row + count]  # (n, K)
        here += _best_into(before[:count], transitions)
        before = here
        row += count
    final: NDArray[np.float64] = cells[last_rows(active)] + transitions.end
    return final


def _best_into(before: NDArray[np.float64], transitions: Transitions) -> NDArray[np.float64]:
    """The best score of coming to each tag from n rows of cells: (n, K) to (n, K)."""
    between = transitions.between
    if before.size * len(between) <= _SUMS_AT_ONCE:
        return _best_of_all(before, between)
    some = max(1, _SUMS_AT_ONCE // between.size)
    parts = [before[i : i + some] for i in range(0, len(before), some)]
    return np.concatenate([_best_of_all(part, between) for part in parts])


def _best_of_all(before: NDArray[np.float64], between: Floats) -> NDArray[np.float64]:
    """`_best_into` from all tags, whose sums are made at once."""
    best: NDArray[np.float64]
    if len(between) <= _FEW_TAGS:
        best = np.maximum.reduce(before.T[:, None] + between[:, :, None], axis=0).T
    else:
        best = np.maximum.reduce(before[:, :, None] + between, axis=1)
    return best


def _trace(
    cells: NDArray[np.float64],
    active: list[int],
    into: Floats,
    last: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Follow the best path back from the `last` tags (S,); return the tags (M,) by cell row."""
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
