"""The temperature of a model: what its scores are divided by, so that it is not too sure.

Temperature scaling is that of Guo et al. (2017), "On calibration of modern neural networks".
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.decoding import ChainScores, forward_backward
from service.store.manifest import Manifest, Split
from service.taggers import Tagger
from service.text.conll import TaggedSentence
from service.text.tokens import Tokens
from service.training.calibration import CALIBRATION_ERRORS, Calibration
from service.training.evaluation import read_gold
from service.training.recipe import Corpus

_SENTENCES_AT_ONCE = 500
_COLDEST, _HOTTEST = 0.1, 10.0
_PRECISION = 1e-3  # of the logarithm of the temperature
_GOLDEN = (math.sqrt(5) - 1) / 2
_TINY = np.finfo(np.float64).tiny


def calibrated(
    manifest: Manifest,
    tagger: Tagger,
    corpora: Sequence[Corpus],
    data: Path,
    splits: Sequence[Split],
    max_sentence_tokens: int,
) -> Manifest:
    """The manifest with a temperature, where dev says that one helps, and with calibration errors.

    Parameters
    ----------
    manifest, tagger : of the model.
    corpora, data : the recipe's, and the folder that their files lie in.
    splits : what to measure.
    max_sentence_tokens : as served.

    Raises
    ------
    CorpusError
    """
    dev = [s for *_, some in read_gold(manifest.task, corpora, data, ("dev",)) for s in some]
    calibration = Calibration(tagger, manifest.task, max_sentence_tokens, temperature=1.0)
    calibration = replace(calibration, temperature=_helpful_temperature(calibration, dev))
    kept = [score for score in manifest.scores if score.metric not in CALIBRATION_ERRORS]
    found = [r.score for r in calibration.corpora(corpora, data, splits)]
    update = {"temperature": calibration.temperature, "scores": (*kept, *found)}
    return manifest.model_copy(update=update)


def _helpful_temperature(plain: Calibration, dev: Sequence[TaggedSentence]) -> float:
    """The fitted temperature, if the calibration error of the tags is less with it; else 1."""
    before = _token_error(plain, dev)
    if before is None:
        return plain.temperature
    fitted = replace(plain, temperature=fit_temperature(plain.tagger, dev))
    after = _token_error(fitted, dev)
    helps = after is not None and after < before
    return fitted.temperature if helps else plain.temperature


def _token_error(calibration: Calibration, sentences: Sequence[TaggedSentence]) -> float | None:
    found = calibration.gold_words(sentences, "", "dev")
    return next((r.error for r in found if r.metric == "token_ece"), None)


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
