"""Calibration: whether a tagger is right as often as its probabilities say, and making it so.

The expected calibration error and temperature scaling are those of Guo et al. (2017), "On
calibration of modern neural networks".
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.decoding import ChainScores, forward_backward
from service.taggers import Tagger
from service.text.conll import TaggedSentence
from service.text.tokens import Tokens

BINS = 15
_SENTENCES_AT_ONCE = 500
_COLDEST, _HOTTEST = 0.1, 10.0
_PRECISION = 1e-3  # of the logarithm of the temperature
_GOLDEN = (math.sqrt(5) - 1) / 2
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Predictions whose confidence is above `low` and at most `high`.

    Attributes
    ----------
    low, high : the bin; the first has 0 too.
    count : how many there are.
    confidence : the mean of what they say; 0 where there is none.
    accuracy : the share that is right; 0 where there is none.
    """

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


def reliability(
    confidences: NDArray[np.float64], right: NDArray[np.bool_], bins: int = BINS
) -> list[ReliabilityBin]:
    """Sort N predictions into bins of equal width.

    Parameters
    ----------
    confidences : (N,) between 0 and 1.
    right : (N,) whether what was predicted is so.
    bins : how many.
    """
    edges = np.linspace(0.0, 1.0, bins + 1)
    bin_of = edges[1:-1].searchsorted(confidences, side="left")  # (N,)
    counts = np.bincount(bin_of, minlength=bins)
    shares = np.maximum(counts, 1)
    means = np.bincount(bin_of, confidences, bins) / shares
    accuracies = np.bincount(bin_of, right, bins) / shares
    edge, count, mean, accuracy = (a.tolist() for a in (edges, counts, means, accuracies))
    return [
        ReliabilityBin(edge[i], edge[i + 1], count[i], mean[i], accuracy[i]) for i in range(bins)
    ]


def calibration_error(bins: Sequence[ReliabilityBin]) -> float | None:
    """The expected calibration error: how far confidence and accuracy are apart, on average.

    None where there is no prediction.
    """
    total = sum(part.count for part in bins)
    if not total:
        return None
    return sum(part.count * abs(part.accuracy - part.confidence) for part in bins) / total


def fit_temperature(tagger: Tagger, sentences: Sequence[TaggedSentence]) -> float:
    """The temperature at which the gold tags of the tokens are most probable, to three digits.

    Scores divided by it have the same best paths. Tokens whose gold tag the tagger does not have
    tell nothing.

    Parameters
    ----------
    tagger : any tagger.
    sentences : with gold tags; not those that it was trained on.
    """
    batches = list(_scored(tagger, sentences))

    def loss(log_temperature: float) -> float:
        return -sum(_log_likelihood(*batch, math.exp(log_temperature)) for batch in batches)

    best = _minimum(loss, math.log(_COLDEST), math.log(_HOTTEST))
    return float(f"{math.exp(best):.3g}")


def _scored(
    tagger: Tagger, sentences: Sequence[TaggedSentence]
) -> Iterator[tuple[ChainScores, NDArray[np.bool_]]]:
    """Scores of batches, and (M, K) which states bear the gold tag of each token."""
    labels = np.array(tagger.labels)
    for i in range(0, len(sentences), _SENTENCES_AT_ONCE):
        some = sentences[i : i + _SENTENCES_AT_ONCE]
        tokens = Tokens.from_sentences([sentence.words for sentence in some])
        tags = np.array([tag for sentence in some for tag in sentence.tags], np.str_)
        yield tagger.score(tokens.words, tokens.sentence_offsets), tags[:, None] == labels


def _log_likelihood(scores: ChainScores, gold: NDArray[np.bool_], temperature: float) -> float:
    """The log probabilities of the gold tags of all tokens that have one, added up."""
    marginals = forward_backward(scores.tempered(temperature)).marginals  # (M, K)
    probabilities = np.where(gold, marginals, 0.0).sum(axis=1)[gold.any(axis=1)]
    return float(np.log(np.maximum(probabilities, _TINY)).sum())


def _minimum(of: Callable[[float], float], low: float, high: float) -> float:
    """Where a function of one valley is lowest, by golden-section search (Kiefer 1953)."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = of(left), of(right)
    while high - low > _PRECISION:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = of(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = of(right)
    return (low + high) / 2
