"""All that is asked of the scores of a packed batch, together: paths, and what is beside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from service.decoding.forward_backward import Posterior, forward_backward
from service.decoding.k_best import k_best_paths
from service.decoding.scores import ChainScores
from service.decoding.viterbi import best_paths
from service.text.spans import span_ranges, span_states

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Inference:
    """What is inferred beside the best path; nothing, unless it is asked for.

    Attributes
    ----------
    confidences : the probabilities of the tags of the best path, and of its spans.
    marginals : the probabilities of all labels.
    n_best : how many of the best different tag sequences; 0 for none.
    """

    confidences: bool = False
    marginals: bool = False
    n_best: int = 0


PATH_ALONE = Inference()


@dataclass(frozen=True, slots=True, eq=False)
class TagSequence:
    """One tag sequence of a sentence of T tokens.

    Attributes
    ----------
    tag_ids : (T,)
    log_prob : the log of its probability; None of a model that has none.
    """

    tag_ids: NDArray[np.int64]
    log_prob: float | None


class Inferred(NamedTuple):
    """What was inferred of S sentences with M tokens and N spans; None where it was not asked for.

    Attributes
    ----------
    tag_ids : (M,) the best paths.
    confidences : (M,) the marginal probability of each token's tag.
    span_confidences : (N,) the probability that this very span is there, in the spans' order.
    marginals : (M, L) the probability of each label, in the order of `distinct_labels`.
    n_best : of each sentence, its best tag sequences.
    """

    tag_ids: NDArray[np.int64]
    confidences: Floats | None = None
    span_confidences: Floats | None = None
    marginals: Floats | None = None
    n_best: list[list[TagSequence]] | None = None

    @classmethod
    def joined(cls, parts: Sequence["Inferred"]) -> "Inferred":
        """The same of several batches, at least one, of which the same was asked."""
        if len(parts) == 1:
            return parts[0]
        n_best = [part.n_best for part in parts if part.n_best is not None]
        return cls(
            np.concatenate([part.tag_ids for part in parts]),
            _concatenated([part.confidences for part in parts]),
            _concatenated([part.span_confidences for part in parts]),
            _concatenated([part.marginals for part in parts]),
            list(chain.from_iterable(n_best)) if n_best else None,
        )

    def part(self, tokens: slice, sentences: slice, spans: slice) -> "Inferred":
        """The same of some of the tokens, and of the sentences and spans that are theirs."""
        return Inferred(
            self.tag_ids[tokens],
            None if self.confidences is None else self.confidences[tokens],
            None if self.span_confidences is None else self.span_confidences[spans],
            None if self.marginals is None else self.marginals[tokens],
            None if self.n_best is None else self.n_best[sentences],
        )


def _concatenated(arrays: Sequence[Floats | None]) -> Floats | None:
    there = [array for array in arrays if array is not None]
    return np.concatenate(there) if there else None


def distinct_labels(labels: tuple[str, ...]) -> tuple[str, ...]:
    """The L labels that K states bear, each once."""
    return tuple(dict.fromkeys(labels))


def infer(
    scores: ChainScores,
    labels: tuple[str, ...],
    wanted: Inference,
    *,
    spans: bool,
    temperature: float | None,
) -> Inferred:
    """Infer what is wanted.

    Parameters
    ----------
    scores : M tokens, K states, S sentences.
    labels : what the K states bear. If `spans`, they are BIO tags.
    wanted : what to infer beside the best paths.
    spans : whether the paths have spans.
    temperature : exp(score / temperature) is proportional to a probability; None where no
        temperature makes it one, and there are none.

    Raises
    ------
    NoValidPath
        Where every path of a sentence scores minus infinity.
    ScoresError
        Where the scores cannot be decoded.
    """
    tag_ids = best_paths(scores)
    if wanted == PATH_ALONE:
        return Inferred(tag_ids)
    distinct = distinct_labels(labels)
    label_ids = np.array([distinct.index(label) for label in labels])  # (K,)
    n_best = confidences = span_confidences = marginals = None
    posterior = None
    if temperature is not None:
        posterior = forward_backward(scores.tempered(temperature))
    if wanted.n_best:
        n_best = _n_best(scores, wanted.n_best, label_ids, posterior, temperature or 1.0)
    if posterior is not None and (wanted.confidences or wanted.marginals):
        of_labels = posterior.label_marginals(label_ids)  # (M, L)
        if wanted.marginals:
            marginals = of_labels
        if wanted.confidences:
            confidences = of_labels[np.arange(len(tag_ids)), label_ids[tag_ids]]
            if spans:
                span_confidences = _span_confidences(posterior, tag_ids, labels)
    return Inferred(tag_ids, confidences, span_confidences, marginals, n_best)


def _span_confidences(
    posterior: Posterior, tag_ids: NDArray[np.int64], labels: tuple[str, ...]
) -> Floats:
    states = span_states(labels)
    starts, ends = span_ranges(tag_ids, labels)
    same = states.name_ids[tag_ids[starts]][:, None] == states.name_ids  # (N, K)
    return posterior.span_probabilities(starts, ends, same & states.begins, same & states.continues)


def _n_best(
    scores: ChainScores,
    k: int,
    label_ids: NDArray[np.int64],
    posterior: Posterior | None,
    temperature: float,
) -> list[list[TagSequence]]:
    found = k_best_paths(scores, k, label_ids)
    if posterior is None:
        return [[TagSequence(path.tag_ids, None) for path in paths] for paths in found]
    return [
        # Rounding must not make a probability of more than one.
        [TagSequence(path.tag_ids, min(path.score / temperature - total, 0.0)) for path in paths]
        for paths, total in zip(found, posterior.log_partition.tolist(), strict=True)
    ]
