"""Estimating a linear-chain CRF: L-BFGS with L1 and L2 penalties, by python-crfsuite.

CRFsuite estimates and is then done: its weights are read out of its model into our own arrays.
"""

import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from service.taggers.base import Parameters
from service.taggers.crf_features import FeatureReader, padded_words
from service.taggers.crf_lexicon import lexicon_of
from service.text.conll import TaggedSentence
from service.text.features import OFFSETS, word_features
from service.text.tokens import offsets_of
from service.training.frequent_words import frequent_words
from service.training.lexicon import Lexicon
from service.training.progress import Progress


class CrfOptions(BaseModel):
    """The ``[options]`` of a CRF recipe."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    l1: float = Field(ge=0, description="Coefficient of the L1 penalty; makes weights sparse.")
    l2: float = Field(ge=0, description="Coefficient of the L2 penalty.")
    max_iterations: int = Field(ge=1, description="L-BFGS iterations at most.")
    recased_share: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Share of the sentences of which a copy in lower case and one "
        "in upper case is added.",
    )


def estimate(
    sentences: Sequence[TaggedSentence],
    labels: tuple[str, ...],
    options: CrfOptions,
    lexicon: Lexicon,
    seed: int,
) -> Parameters:
    """Estimate a CRF of K tags from tagged sentences, showing progress on standard error.

    Parameters
    ----------
    sentences : training sentences, whose tags are all in `labels`.
    labels : the K tags.
    options : penalties and iterations.
    lexicon : what is known of words beforehand.
    seed : chooses the sentences that are copied in other case.

    Returns
    -------
    The parameters that `service.taggers.crf.CrfTagger` takes.
    """
    # CRFsuite keeps names as C strings and prints them into its log: give it numbers instead.
    attribute_ids: dict[str, int] = {}
    tag_ids = {label: str(i) for i, label in enumerate(labels)}

    def numbers(names: Iterable[str]) -> list[str]:
        return [str(attribute_ids.setdefault(name, len(attribute_ids))) for name in names]

    reader = feature_reader(sentences, lexicon)
    trainer = _Trainer(Progress("L-BFGS iteration", options.max_iterations))
    trainer.select("lbfgs")
    trainer.set_params(
        {"c1": options.l1, "c2": options.l2, "max_iterations": options.max_iterations}
    )
    for sentence in [*sentences, *recased(sentences, options.recased_share, seed)]:
        rows = [numbers(names) for names in reader.features(sentence.words)]
        trainer.append(rows, [tag_ids[tag] for tag in sentence.tags])
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "model.crfsuite"
        trainer.train(str(file))
        tagger = pycrfsuite.Tagger()
        tagger.open(str(file))
        dump = tagger.info()
        tagger.close()

    transitions = np.zeros((len(labels), len(labels)), dtype=np.float32)
    for (before, after), weight in dump.transitions.items():
        transitions[int(before), int(after)] = weight
    attributes, arrays = _pack_weights(dump.state_features, list(attribute_ids), len(labels))
    return Parameters(
        labels=labels,
        arrays={"transitions": transitions, **arrays, **lexicon.arrays},
        vocabularies={
            **lexicon.vocabularies,
            "attributes": attributes,
            "words": frequent_words(sentences),
        },
    )


def recased(sentences: Sequence[TaggedSentence], share: float, seed: int) -> list[TaggedSentence]:
    """Copies of a random share of the sentences, in lower case and in upper case."""
    chosen = random.Random(seed).sample(sentences, round(share * len(sentences)))
    return [
        TaggedSentence(tuple(map(change, sentence.words)), sentence.tags)
        for change in (str.lower, str.upper)
        for sentence in chosen
    ]


def feature_reader(sentences: Sequence[TaggedSentence], lexicon: Lexicon) -> FeatureReader:
    """What reads the features of sentences.

    Parameters
    ----------
    sentences : training sentences, which tell the pairs of words to look at.
    lexicon : what is known of words beforehand.
    """
    given = Parameters((), lexicon.arrays, lexicon.vocabularies)
    clusters, classes, gazetteers = lexicon_of(given)
    pairs = Counter(p for s in sentences for p in pairwise(map(str.lower, padded_words(s.words))))
    # A pair that came once tells nothing of others; the names of pairs part at a blank.
    known = {pair for pair, count in pairs.items() if count > 1 and " " not in "".join(pair)}
    features_of = cache(lambda word: word_features(word, clusters, classes))
    return FeatureReader(features_of, gazetteers, known.__contains__)


class _Trainer(pycrfsuite.Trainer):  # type: ignore[misc]  # python-crfsuite has no types
    """Shows every iteration through a `Progress`, not through CRFsuite's own log."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(verbose=False)
        self._progress = progress

    def message(self, message: str) -> None:
        if self.logparser.feed(message) == "iteration":
            last = self.logparser.last_iteration
            self._progress.step(last["num"], f"loss {last['loss']:.1f}")


def _pack_weights(
    weights: Mapping[tuple[str, str], float], names: list[str], tags: int
) -> tuple[list[str], dict[str, NDArray[Any]]]:
    """Weights by name and tag as `FeatureWeights` takes them: A attributes, and arrays."""
    of_attribute: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for (number, tag), weight in weights.items():
        if weight:
            offset, _, attribute = names[int(number)].partition(":")
            cell = OFFSETS.index(int(offset)) * tags + int(tag)
            of_attribute[attribute].append((cell, weight))
    attributes = sorted(of_attribute)
    entries = [entry for name in attributes for entry in sorted(of_attribute[name])]
    return attributes, {
        "attribute_offsets": offsets_of([len(of_attribute[n]) for n in attributes]).astype(
            np.int32
        ),
        "weight_cells": np.array([cell for cell, _ in entries], dtype=np.int16),
        "weights": np.array([weight for _, weight in entries], dtype=np.float32),
    }
