"""The k best different paths of each sentence, exactly: serial list Viterbi.

After Seshadri and Sundberg (1994), "List Viterbi decoding algorithms with applications", with the
partition of Lawler (1972): the paths that are not yet found are those that leave one that is found
at some token, seen from the end of the sentence, and never join it again on the way back. What is
before that token is best by Viterbi, whose cells are there, so the best of each part is found by
adding up, and one more path costs O(T * K).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count, islice, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from service.decoding.scores import ChainScores, Floats, Transitions
from service.decoding.viterbi import viterbi_cells
from service.errors import NoValidPath

Path = NDArray[np.int64]

_SUMS_AT_ONCE = 2**17
"""So many stay in the processor's cache until the largest is found."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPath:
    """A path of a sentence of T tokens: (T,) tag ids, and its score."""

    tag_ids: Path
    score: float


def k_best_paths(
    scores: ChainScores, k: int, label_ids: NDArray[np.int64]
) -> list[list[ScoredPath]]:
    """Find the k paths with the highest scores of every sentence.

    Parameters
    ----------
    scores : M tokens, K states, S sentences.
    k : how many, at least one.
    label_ids : (K,) the label that each state bears. Paths differ in their labels: of those that
        bear the same, the best stands for all, and the time grows with those left out. Under
        strict BIOES there are none, since a sequence of BIO tags has one path.

    Returns
    -------
    Of each sentence its paths by falling score, fewer than k where it has fewer; none of them
    scores minus infinity. The first is that of `best_paths`. A sentence without tokens has one
    path, which is empty.

    Raises
    ------
    NoValidPath
        Where every path of a sentence scores minus infinity.
    ScoresError
        Where an emission is NaN or plus infinity.
    """
    scores.check_emissions()
    cells = viterbi_cells(scores)  # (M, K)
    found = []
    for sentence, (first, end) in enumerate(pairwise(scores.offsets.tolist())):
        chain = _Chain(scores.emissions[first:end], cells[first:end], scores.transitions)
        best = list(islice(_different(chain.paths(), label_ids), k))
        if not best:
            raise NoValidPath(sentence)
        found.append(best)
    return found


def _different(paths: Iterator[ScoredPath], label_ids: NDArray[np.int64]) -> Iterator[ScoredPath]:
    """The first path of each sequence of labels."""
    seen = set()
    for path in paths:
        labels = label_ids[path.tag_ids].tobytes()
        if labels not in seen:
            seen.add(labels)
            yield path


class _Part(NamedTuple):
    """The paths that are `path` after token `at`, and have none of the tags `taken` there.

    The best of them has the score `score` and the tag `tag` at that token.
    """

    score: float
    path: Path
    at: int
    taken: tuple[int, ...]
    tag: int


class _Chain:
    """One sentence of T tokens: its emissions (T, K) and its Viterbi cells (T, K)."""

    def __init__(
        self, emissions: Floats, cells: NDArray[np.float64], transitions: Transitions
    ) -> None:
        self._emissions = emissions
        self._cells = cells
        self._transitions = transitions
        self._predecessors = _best_predecessors(cells, transitions.into)

    def paths(self) -> Iterator[ScoredPath]:
        """All paths by falling score; none that scores minus infinity."""
        if not len(self._cells):
            yield ScoredPath(np.empty(0, dtype=np.int64), 0.0)
            return
        order = count()  # parts of equal score come in the order in which they were made
        heap: list[tuple[float, int, _Part, Iterator[_Part]]] = []
        streams = [self._all_paths()]
        while True:
            for stream in streams:
                if (part := next(stream, None)) is not None:
                    heappush(heap, (-part.score, next(order), part, stream))
            if not heap:
                return
            _, _, part, others = heappop(heap)
            path = self._best_of(part)
            yield ScoredPath(path, part.score)
            streams = [others, self._parts_without(path, part)]

    def _all_paths(self) -> Iterator[_Part]:
        final = self._cells[-1] + self._transitions.end
        tag = int(final.argmax())
        if final[tag] > -np.inf:
            nowhere = np.zeros(len(self._cells), dtype=np.int64)
            yield _Part(float(final[tag]), nowhere, len(nowhere) - 1, (), tag)

    def _parts_without(self, path: Path, part: _Part) -> Iterator[_Part]:
        """The parts that a part falls into once its best path is taken out, by falling score."""
        at, into = part.at, self._transitions.into
        steps = self._emissions[np.arange(len(path)), path].astype(np.float64)  # (T,)
        steps[:-1] += into[path[1:], path[:-1]]
        steps[-1] += self._transitions.end[path[-1]]
        after = np.append(np.cumsum(steps[::-1])[::-1], 0.0)[1 : at + 2]  # (at + 1,)
        # Other tags at each token, on the best way to them and then on with the path.
        others = self._cells[: at + 1] + after[:, None]  # (at + 1, K)
        others[: len(path) - 1] += into[path[1 : at + 2]]
        if at == len(path) - 1:
            others[at] += self._transitions.end
        others[np.arange(at + 1), path[: at + 1]] = -np.inf
        others[at, list(part.taken)] = -np.inf
        tags = others.argmax(axis=1)  # (at + 1,)
        scores = others[np.arange(at + 1), tags]
        for token in np.argsort(-scores, kind="stable").tolist():
            if scores[token] == -np.inf:
                return
            taken = (*(part.taken if token == at else ()), int(path[token]))
            yield _Part(float(scores[token]), path, token, taken, int(tags[token]))

    def _best_of(self, part: _Part) -> Path:
        path = part.path.copy()
        path[part.at] = tag = part.tag
        for token in range(part.at - 1, -1, -1):
            path[token] = tag = self._predecessors[token][tag]
        return path


def _best_predecessors(cells: NDArray[np.float64], into: Floats) -> list[list[int]]:
    """The best tag at token t on the way to each tag at token t + 1: (T - 1, K)."""
    predecessors: list[list[int]] = []
    some = max(1, _SUMS_AT_ONCE // into.size)
    for first in range(0, len(cells) - 1, some):
        before = cells[first : min(first + some, len(cells) - 1), None, :]  # (n, 1, K)
        predecessors += (before + into).argmax(axis=2).tolist()
    return predecessors
