"""The trellis laid open, for people to see how the decoder came to its path."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.decoding.scores import ChainScores
from service.decoding.viterbi import best_paths, viterbi_cells

NOWHERE = -1
"""The back-pointer of a cell that begins a sentence, or that no path leads to."""


@dataclass(frozen=True, slots=True)
class Trellis:
    """The trellises of S sentences with M tokens, a cell for each token and each of K tags.

    Several states of a chain may bear one tag. Its cell is then that of one of them: of the best
    path's own, where that runs through the tag, else of the one with the highest score. So what a
    cell says is true of a path, and the back-pointers from the last tag lead along the best one.

    Attributes
    ----------
    tags : the K different tags; ids are indexes into it.
    emissions : (M, K) score of the tag at the token.
    cells : (M, K) score of the best path that comes to the tag at the token.
    back_pointers : (M, K) the tag before on that path, or `NOWHERE`.
    path : (M,) the best path.
    scores : (S,) of the best paths, to the end; 0 of an empty sentence.
    """

    tags: tuple[str, ...]
    emissions: NDArray[np.floating[Any]]
    cells: NDArray[np.float64]
    back_pointers: NDArray[np.int64]
    path: NDArray[np.int64]
    scores: NDArray[np.float64]

    def off_the_column_best(self) -> NDArray[np.int64]:
        """The tokens whose cell on the best path is not the best of all tags: indexes of tokens."""
        on_path = self.cells[np.arange(len(self.path)), self.path]
        return np.flatnonzero(on_path < self.cells.max(axis=1, initial=-np.inf))


def lay_open(scores: ChainScores, labels: Sequence[str]) -> Trellis:
    """Fill the trellis and keep all of it.

    Parameters
    ----------
    scores : of K states.
    labels : the tag that each state bears.

    Raises
    ------
    ScoresError
        As `best_paths`.
    """
    states = best_paths(scores)  # (M,)
    cells = viterbi_cells(scores)  # (M, states)
    back = _back_pointers(cells, scores)
    tags = tuple(dict.fromkeys(labels))
    tag_of = np.array([tags.index(label) for label in labels])  # (states,)
    path = tag_of[states]
    shown = _best_of_each(cells, tag_of, len(tags))  # (M, K)
    shown[np.arange(len(path)), path] = states
    before = np.append(tag_of, NOWHERE)[back]  # NOWHERE finds itself at the end
    return Trellis(
        tags,
        np.take_along_axis(scores.emissions, shown, axis=1),
        np.take_along_axis(cells, shown, axis=1),
        np.take_along_axis(before, shown, axis=1),
        path,
        _path_scores(cells, states, scores),
    )


def _back_pointers(cells: NDArray[np.float64], scores: ChainScores) -> NDArray[np.int64]:
    """The state before each state on the best path to it: (M, states)."""
    back = np.full(cells.shape, NOWHERE)
    for token, before in enumerate(cells[:-1], start=1):
        back[token] = (before + scores.transitions.into).argmax(axis=1)
    firsts = scores.offsets[:-1][np.diff(scores.offsets) > 0]
    back[firsts] = NOWHERE
    back[cells == -np.inf] = NOWHERE
    return back


def _best_of_each(
    cells: NDArray[np.float64], tag_of: NDArray[np.int64], tags: int
) -> NDArray[np.int64]:
    """The state with the highest score of each tag: (M, states) to (M, K)."""
    best = np.empty((len(cells), tags), dtype=np.int64)
    for tag in range(tags):
        states = np.flatnonzero(tag_of == tag)
        best[:, tag] = states[cells[:, states].argmax(axis=1)]
    return best


def _path_scores(
    cells: NDArray[np.float64], states: NDArray[np.int64], scores: ChainScores
) -> NDArray[np.float64]:
    """The score of the best path of each sentence, `end` included: (S,)."""
    sums = np.zeros(len(scores.offsets) - 1)
    lasts = scores.offsets[1:] - 1
    has_tokens = np.diff(scores.offsets) > 0
    last = lasts[has_tokens]
    sums[has_tokens] = cells[last, states[last]] + scores.transitions.end[states[last]]
    return sums
