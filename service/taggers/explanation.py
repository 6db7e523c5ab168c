"""Why a tagger says what it says: its trellis, and of a linear one the features that fired."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.decoding import ChainScores, Transitions, Trellis, forward_backward, lay_open
from service.taggers.base import FeatureTagger, FiredFeature, Tagger

REQUEST = "request"
"""The name under which stands what a request added to a token's emissions."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tag that a token may have, and what speaks for it.

    Attributes
    ----------
    tag_id : index into the trellis's tags.
    transition : score of coming to it from the best path's tag before, or of beginning with it.
    features : names and weights, the heaviest first; they add up to the emission.
    """

    tag_id: int
    transition: float
    features: list[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why the M tokens of a document have their tags.

    Attributes
    ----------
    trellis : the trellises of its sentences.
    transitions : between the tags of the trellis; None where several states bear one tag.
    candidates : of a `FeatureTagger`, of each token its tag and the runner-up: of the other tags
        the one of the highest marginal probability, None where no other is possible.
    """

    trellis: Trellis
    transitions: Transitions | None
    candidates: list[tuple[Candidate, Candidate | None]] | None


def explanation_of(
    tagger: Tagger, words: Sequence[str], scores: ChainScores, temperature: float = 1.0
) -> Explanation:
    """Explain the best paths of a packed batch.

    Parameters
    ----------
    tagger : any tagger.
    words : M words.
    scores : what is decoded: those that the tagger gives the words, and what a request adds to
        their emissions.
    temperature : at which the probabilities are.

    Raises
    ------
    ScoresError
        As `best_paths`.
    """
    trellis = lay_open(scores, tagger.labels)
    if len(trellis.tags) < len(tagger.labels):
        return Explanation(trellis, None, None)
    candidates = None
    if isinstance(tagger, FeatureTagger):
        marginals = forward_backward(scores.tempered(temperature)).marginals
        fired = _fired_features(tagger, words, scores)
        candidates = _candidates(trellis.path, marginals, fired, scores)
    return Explanation(trellis, scores.transitions, candidates)


def _fired_features(
    tagger: FeatureTagger, words: Sequence[str], scores: ChainScores
) -> list[list[FiredFeature]]:
    """The features of each of M tokens, and what the request added as one more."""
    with np.errstate(invalid="ignore"):  # inf - inf: the model forbids it already
        added = scores.emissions - tagger.score(words, scores.offsets).emissions  # (M, K)
    fired = tagger.fired_features(words, scores.offsets)
    return [
        [*features, FiredFeature(REQUEST, row)]
        for features, row in zip(fired, np.nan_to_num(added, neginf=-np.inf), strict=True)
    ]


def _candidates(
    path: NDArray[np.int64],
    marginals: NDArray[np.float64],
    fired: list[list[FiredFeature]],
    scores: ChainScores,
) -> list[tuple[Candidate, Candidate | None]]:
    """The tag and the runner-up of each of M tokens."""
    others = marginals.copy()  # (M, K)
    others[np.arange(len(path)), path] = 0.0
    firsts = set(scores.offsets.tolist())
    found = []
    for token, features in enumerate(fired):
        if token in firsts:
            came = scores.transitions.start  # (K,)
        else:
            came = scores.transitions.between[path[token - 1]]
        best, second = int(path[token]), int(others[token].argmax())
        runner_up = _candidate(second, came, features) if others[token, second] > 0 else None
        found.append((_candidate(best, came, features), runner_up))
    return found


def _candidate(
    tag_id: int, came: NDArray[np.floating[Any]], features: list[FiredFeature]
) -> Candidate:
    weights = [(f.name, float(f.weights[tag_id])) for f in features if f.weights[tag_id]]
    heaviest_first = sorted(weights, key=lambda named: -abs(named[1]))
    return Candidate(tag_id, float(came[tag_id]), heaviest_first)
