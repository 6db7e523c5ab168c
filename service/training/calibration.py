"""Calibration: whether a tagger is right as often as its probabilities say.

The expected calibration error is that of Guo et al. (2017), "On calibration of modern neural
networks".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.decoding import Inference
from service.pipeline import annotate
from service.store.manifest import Metric, Score, Split
from service.taggers import Tagger
from service.text.conll import TaggedSentence
from service.text.tokens import Tokens
from service.training.evaluation import gold_spans, read_gold, score_of
from service.training.recipe import Corpus

BINS = 15
CALIBRATION_ERRORS: tuple[Metric, Metric] = ("token_ece", "span_ece")


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


@dataclass(frozen=True, slots=True)
class Reliability:
    """How reliable the probabilities of tags, or of spans, are.

    Attributes
    ----------
    data, split : what was measured on.
    metric : whose probabilities, as the metric of their calibration error.
    bins : confidences of what was found, and how often that was right.
    """

    data: str
    split: Split
    metric: Metric
    bins: list[ReliabilityBin]

    @property
    def error(self) -> float | None:
        """The expected calibration error."""
        return calibration_error(self.bins)

    @property
    def score(self) -> Score:
        """The error as a manifest has it."""
        scheme = f"gold words, {len(self.bins)} bins of equal width"
        return score_of(self.data, self.split, self.metric, scheme, self.error)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Measures how reliable the probabilities of one tagger are, as served.

    Attributes
    ----------
    tagger, task, max_sentence_tokens : as of an `Evaluator`.
    temperature : what scores are divided by.
    """

    tagger: Tagger
    task: str
    max_sentence_tokens: int
    temperature: float

    def corpora(
        self, corpora: Sequence[Corpus], data: Path, splits: Sequence[Split]
    ) -> Iterator[Reliability]:
        """Measure on gold words of the dev or test files of corpora: tags, and spans of entities.

        Raises
        ------
        CorpusError
        """
        for name, split, sentences in read_gold(self.task, corpora, data, splits):
            yield from self.gold_words(sentences, name, split)

    def gold_words(
        self, sentences: Sequence[TaggedSentence], data: str, split: Split
    ) -> Iterator[Reliability]:
        """Measure on gold words; nothing of a tagger that has no probabilities."""
        spans = self.task == "ner"
        tokens = Tokens.from_sentences([sentence.words for sentence in sentences])
        [found] = annotate(
            self.tagger,
            [tokens],
            spans=spans,
            max_sentence_tokens=self.max_sentence_tokens,
            inference=Inference(confidences=True),
            temperature=self.temperature,
        )
        inferred = found.inferred
        if inferred.confidences is not None:
            gold = [tag for sentence in sentences for tag in sentence.tags]
            alike = (a == b for a, b in zip(found.tags, gold, strict=True))
            right = np.fromiter(alike, np.bool_, count=len(gold))
            bins = reliability(inferred.confidences, right)
            yield Reliability(data, split, "token_ece", bins)
        if spans and inferred.span_confidences is not None:
            wanted = set(gold_spans(tokens, sentences))
            right = np.array([span in wanted for span in found.spans], dtype=np.bool_)
            yield Reliability(
                data, split, "span_ece", reliability(inferred.span_confidences, right)
            )
