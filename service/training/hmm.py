"""Estimating an HMM: counts, smoothing, and the suffix model of Brants (2000), "TnT"."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from service.taggers.base import Parameters
from service.taggers.hmm import suffix_keys
from service.text.conll import TaggedSentence

Floats = NDArray[np.float64]


class HmmOptions(BaseModel):
    """The ``[options]`` of an HMM recipe."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rare_count: int = Field(
        10, ge=1, description="Words seen at most this often teach the suffix model."
    )
    suffix_strength: float = Field(
        3.0, gt=0, description="Pseudo-count of a suffix's parent, the suffix a character shorter."
    )
    word_strength: float = Field(
        0.3, gt=0, description="Pseudo-count of what a known word's suffix says of its tag."
    )


def estimate(
    sentences: Sequence[TaggedSentence],
    labels: tuple[str, ...],
    options: HmmOptions,
) -> Parameters:
    """Estimate an HMM of K tags from tagged sentences.

    Parameters
    ----------
    sentences : training sentences, whose tags are all in `labels`.
    labels : the K tags.
    options : smoothing.

    Returns
    -------
    The parameters that `service.taggers.hmm.HmmTagger` takes.
    """
    tag_ids = {label: i for i, label in enumerate(labels)}
    tagged = [[(w, tag_ids[t]) for w, t in zip(s.words, s.tags, strict=True)] for s in sentences]
    by_word: dict[str, Counter[int]] = defaultdict(Counter)
    for sentence in tagged:
        for word, tag in sentence:
            by_word[word][tag] += 1
    words = sorted(by_word)
    counts = np.zeros((len(words), len(labels)))  # (V, K)
    for i, word in enumerate(words):
        for tag, count in by_word[word].items():
            counts[i, tag] = count
    prior = counts.sum(axis=0) / counts.sum()  # (K,) P(tag)
    suffixes, given_suffix = _suffix_model(words, counts, prior, options)

    # A word's own counts, with what its suffix says of it as pseudo-counts.
    position = {suffix: i for i, suffix in enumerate(suffixes)}
    own = [next(position[k] for k in suffix_keys(word) if k in position) for word in words]
    smoothed = counts + options.word_strength * given_suffix[own]
    totals = smoothed.sum(axis=1, keepdims=True)  # (V, 1)
    given_word = smoothed / totals
    start, transitions, end = _transitions(tagged, prior)
    with np.errstate(divide="ignore"):  # a tag that nothing supports has probability zero
        # Bayes: P(word | tag) = P(tag | word) P(word) / P(tag)
        emissions = np.log(given_word) - np.log(prior) + np.log(totals / counts.sum())
        suffix_emissions = np.log(given_suffix) - np.log(prior)
        arrays = {
            "start": np.log(start).astype(np.float32),
            "transitions": np.log(transitions).astype(np.float32),
            "end": np.log(end).astype(np.float32),
            "emissions": emissions.astype(np.float16),
            "suffix_emissions": suffix_emissions.astype(np.float16),
        }
    return Parameters(labels, arrays, {"words": words, "suffixes": suffixes})


def _suffix_model(
    words: list[str], counts: Floats, prior: Floats, options: HmmOptions
) -> tuple[list[str], Floats]:
    """P(tag | suffix) by successive abstraction: N suffixes, the empty one first, and (N, K).

    Each suffix's counts are smoothed with the distribution of its parent, one character shorter;
    the class alone is smoothed with the empty suffix, and that with P(tag).
    """
    sums: dict[str, Floats] = {"": np.zeros_like(prior)}
    parents: dict[str, str] = {}
    for word, count in zip(words, counts, strict=True):
        if count.sum() <= options.rare_count:
            keys = suffix_keys(word)
            parents.update(pairwise(keys))
            for key in keys:
                sums[key] = sums.get(key, 0.0) + count
    # One occurrence tells nothing that the parent does not: leave such suffixes out.
    kept = sorted((key for key in sums if key == "" or sums[key].sum() > 1), key=_by_depth)
    given: dict[str, Floats] = {}
    for key in kept:
        above = given[parents[key]] if key in parents else prior
        smoothed = sums[key] + options.suffix_strength * above
        given[key] = smoothed / smoothed.sum()
    return kept, np.array([given[key] for key in kept])


def _by_depth(key: str) -> tuple[int, str]:
    return len(key), key


def _transitions(
    tagged: list[list[tuple[str, int]]], prior: Floats
) -> tuple[Floats, Floats, Floats]:
    """P(first tag), P(tag | previous tag) and P(end | last tag): (K,), (K, K), (K,).

    Bigram and unigram are mixed by deleted interpolation: each bigram votes, with its count, for
    the estimate that predicts it better once it is itself left out (Brants 2000, figure 1).
    """
    tags = len(prior)
    stop = tags  # the state before the first and after the last tag
    counts = np.zeros((tags + 1, tags + 1))
    for sentence in tagged:
        path = [stop, *(tag for _, tag in sentence), stop]
        np.add.at(counts, (path[:-1], path[1:]), 1)
    totals = counts.sum(axis=1, keepdims=True)  # (K + 1, 1)
    unigram = counts.sum(axis=0)  # (K + 1,)
    bigram_vote = (counts - 1) / np.maximum(totals - 1, 1)
    unigram_vote = (unigram - 1) / (unigram.sum() - 1)
    weight = counts[bigram_vote > unigram_vote].sum() / counts.sum()
    bigram = counts / np.maximum(totals, 1)
    mixed = weight * bigram + (1 - weight) * unigram / unigram.sum()
    return mixed[stop, :tags], mixed[:tags, :tags], mixed[:tags, stop]
