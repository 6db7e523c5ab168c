"""Viterbi decoding over those tags alone that may be on a best path: exact, and few of many.

A tag is on no best path at a token where another scores more by what no neighbours could make up
for: whatever stands beside it, a path gets better by the other in its place. How much neighbours
can make up for is known when a model is loaded (`Transitions.handicap`). Of the 49 tags of Penn a
CRF leaves four at a token, a network one.

What is left are cells, some at each token, and arcs between those of neighbouring tokens. They lie
flat, step after step, so that a step takes four operations, whatever the sentences.
"""

from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from service.decoding.scores import Floats, Transitions
from service.text.tokens import consecutive, last_rows, offsets_of

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]

_FEW_ARCS = 16
"""Arcs are worth laying out where they are fewer than one in so many pairs of tags."""

_CELLS_AT_ONCE = 2**15
"""So many stay in the processor's cache while they are compared."""


@dataclass(frozen=True, slots=True, eq=False)
class SparseLattice:
    """C cells of M tokens, and A arcs that come to them.

    A row is a token. Rows are ordered by step, and within a step by rank: see `by_step`.

    Attributes
    ----------
    active : how many rows each step has, falling.
    cells : (M + 1,) the first cell of each row.
    tags : (C,) the tag of each cell; they rise in a row.
    emissions : (C,)
    arcs : (C + 1,) the first arc that comes to each cell. None comes to the first step.
    sources : (A,) the cell that each arc comes from: to a cell from all of the row before.
    """

    active: list[int]
    cells: Ids
    tags: Ids
    emissions: Scores
    arcs: Ids
    sources: Ids

    def best_paths(self, transitions: Transitions) -> tuple[Scores, Ids]:
        """The best score of each of S sentences, (S,), and the tags of its path by row, (M,)."""
        scores, back = self._fill(transitions)
        best, last = self._ends(scores + transitions.end.take(self.tags))
        path = np.empty(len(self.cells) - 1, dtype=np.int64)
        cell = last  # (S,) the cell of each sentence at the step, or its last
        row = len(path)
        for count in reversed(self.active):
            row -= count
            path[row : row + count] = cell[:count]
            cell[:count] = back.take(cell[:count])
        return best, self.tags.take(path)

    def _fill(self, transitions: Transitions) -> tuple[Scores, Ids]:
        """The best score of coming to each cell, (C,), and from which (C,)."""
        rows = [0, *accumulate(self.active)]
        bounds = self.cells[rows].tolist()  # the first cell of each step, and C
        arc_bounds = self.arcs[bounds].tolist()
        groups = self.arcs[:-1] - np.repeat(arc_bounds[:-1], np.diff(bounds))  # within a step
        first = bounds[1]  # where arcs come to
        into = np.diff(self.arcs[first:])
        tags = len(transitions.start)
        pairs = (self.tags * tags).take(self.sources)
        pairs += np.repeat(self.tags[first:], into)
        sums = transitions.between.astype(np.float64).ravel().take(pairs)  # (A,)
        scores = self.emissions.copy()
        scores[:first] += transitions.start.take(self.tags[:first])
        best = np.zeros(len(scores))
        steps = zip(pairwise(bounds), pairwise(arc_bounds), strict=True)
        next(steps)
        for (cell, cell_end), (arc, arc_end) in steps:
            here = sums[arc:arc_end]
            here += scores.take(self.sources[arc:arc_end])
            np.maximum.reduceat(here, groups[cell:cell_end], out=best[cell:cell_end])
            scores[cell:cell_end] += best[cell:cell_end]
        back = np.zeros(len(scores), dtype=np.int64)
        back[first:] = self.sources.take(_first_best(sums, best[first:], self.arcs[first:]))
        return scores, back

    def _ends(self, finals: Scores) -> tuple[Scores, Ids]:
        """The best score of ending each of S sentences, (S,), and in which cell (S,).

        Parameters
        ----------
        finals : (C,) the score of ending in a cell.
        """
        rows = last_rows(self.active)
        starts = self.cells.take(rows)
        counts = self.cells.take(rows + 1) - starts
        groups = offsets_of(counts)
        cells = consecutive(starts, counts)
        finals = finals.take(cells)
        best = np.maximum.reduceat(finals, groups[:-1])
        return best, cells.take(_first_best(finals, best, groups))


def sparse_lattice(
    emissions: Floats, handicap: Floats, token_of: Ids, active: list[int]
) -> SparseLattice | None:
    """Lay out what may be on a best path; None where that is too much to be worth it.

    Parameters
    ----------
    emissions : (M, K) in the order of the tokens.
    handicap : (K, K) see `Transitions`.
    token_of : (M,) the token of each row.
    active : how many rows each step has, falling.
    """
    tokens, tags = emissions.shape
    left, scores = _left(emissions, handicap, token_of)  # (C,) each
    row_of = left // tags
    of_rows = np.bincount(row_of, minlength=tokens)
    before = np.arange(active[0], tokens) - np.repeat(np.array(active[:-1], np.int64), active[1:])
    come, go = of_rows[active[0] :], of_rows.take(before)  # cells of a row, and of that before it
    if _FEW_ARCS * int((come * go).sum()) > emissions.size * tags:
        return None
    cells = offsets_of(of_rows)
    into = np.repeat(go, come)
    arcs = offsets_of(np.concatenate([np.zeros(len(left) - len(into), np.int64), into]))
    sources = consecutive(np.repeat(cells.take(before), come), into)
    return SparseLattice(active, cells, left - row_of * tags, scores, arcs, sources)


def _left(emissions: Floats, handicap: Floats, token_of: Ids) -> tuple[Ids, Scores]:
    """The C cells that may be on a best path, some of each row: (C,) and (C,) their emissions.

    They are counted through the K cells of each row, one row after another.
    """
    tags = emissions.shape[1]
    # Rounding keeps the order, so lower precision leaves out no more; half would be slow.
    precision = np.result_type(emissions, np.float32)
    handicap = handicap.astype(precision)
    left, scores = [], []
    some = max(1, _CELLS_AT_ONCE // tags)
    for first in range(0, max(len(emissions), 1), some):
        rows = emissions.take(token_of[first : first + some], axis=0).astype(precision, copy=False)
        mine = _left_of_some(rows, handicap)
        left.append(mine + first * tags)
        scores.append(rows.ravel().take(mine))
    return np.concatenate(left), np.concatenate(scores).astype(np.float64)


def _left_of_some(emissions: Floats, handicap: Floats) -> Ids:
    best = emissions.argmax(axis=1)  # (M,)
    top = emissions.ravel().take(np.arange(0, emissions.size, emissions.shape[1]) + best)
    with np.errstate(invalid="ignore"):  # inf - inf makes a NaN, which is left
        out = top[:, None] - emissions > handicap.take(best, axis=0)
    left: Ids = (~out).ravel().nonzero()[0]
    return left


def _first_best(values: Scores, best: Scores, groups: Ids) -> Ids:
    """Where each of N groups first has its best value: (N,).

    Parameters
    ----------
    values : of all groups, one after another.
    best : (N,) the best value of each.
    groups : (N + 1,) the first value of each group; none is empty.
    """
    # Where a value is NaN, so is the best, and no value is less.
    places: Ids = (~(values < np.repeat(best, np.diff(groups)))).nonzero()[0]
    if len(places) == len(best):  # no group has two, most often
        return places
    first: Ids = places.take(places.searchsorted(groups[:-1]))
    return first
