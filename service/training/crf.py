"""Estimating a linear-chain CRF: L-BFGS with L1 and L2 penalties, by python-crfsuite.

CRFsuite estimates and is then done: its weights are read out of its model into our own arrays.
"""

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from service.taggers.base import Parameters
from service.text.conll import TaggedSentence
from service.text.features import BOUNDARY, OFFSETS, word_features
from service.text.tokens import offsets_of
from service.training.progress import Progress


class CrfOptions(BaseModel):
    """The ``[options]`` of a CRF recipe."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    l1: float = Field(ge=0, description="Coefficient of the L1 penalty; makes weights sparse.")
    l2: float = Field(ge=0, description="Coefficient of the L2 penalty.")
    max_iterations: int = Field(ge=1, description="L-BFGS iterations at most.")
    min_word_count: int = Field(
        2, ge=1, description="Words seen this often have their rows made when the model loads."
    )


def estimate(
    sentences: Sequence[TaggedSentence], labels: tuple[str, ...], options: CrfOptions
) -> Parameters:
    """Estimate a CRF of K tags from tagged sentences, showing progress on standard error.

    Parameters
    ----------
    sentences : training sentences, whose tags are all in `labels`.
    labels : the K tags.
    options : penalties and iterations.

    Returns
    -------
    The parameters that `service.taggers.crf.CrfTagger` takes.
    """
    # CRFsuite keeps names as C strings and prints them into its log: give it numbers instead.
    attribute_ids: dict[str, int] = {}
    tag_ids = {label: str(i) for i, label in enumerate(labels)}

    @cache
    def numbered(word: str, offset: int) -> list[str]:
        names = word_features(word, offset)
        return [str(attribute_ids.setdefault(name, len(attribute_ids))) for name in names]

    trainer = _Trainer(Progress("L-BFGS iteration", options.max_iterations))
    trainer.select("lbfgs")
    trainer.set_params(
        {"c1": options.l1, "c2": options.l2, "max_iterations": options.max_iterations}
    )
    for sentence in sentences:
        rows = [
            [number for word, offset in near for number in numbered(word, offset)]
            for near in _neighbours(sentence.words)
        ]
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
    words = Counter(word for sentence in sentences for word in sentence.words)
    attributes, arrays = _pack_weights(dump.state_features, list(attribute_ids))
    return Parameters(
        labels=labels,
        arrays={"transitions": transitions, **arrays},
        vocabularies={
            "attributes": attributes,
            "words": sorted(w for w, count in words.items() if count >= options.min_word_count),
        },
    )


class _Trainer(pycrfsuite.Trainer):  # type: ignore[misc]  # python-crfsuite has no types
    """Shows every iteration through a `Progress`, not through CRFsuite's own log."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(verbose=False)
        self._progress = progress

    def message(self, message: str) -> None:
        if self.logparser.feed(message) == "iteration":
            last = self.logparser.last_iteration
            self._progress.step(last["num"], f"loss {last['loss']:.1f}")


def _neighbours(words: Sequence[str]) -> Iterator[list[tuple[str, int]]]:
    """For each token, the words around it with their offsets; `BOUNDARY` outside."""
    for i in range(len(words)):
        yield [
            (words[i + offset] if 0 <= i + offset < len(words) else BOUNDARY, offset)
            for offset in OFFSETS
        ]


def _pack_weights(
    weights: Mapping[tuple[str, str], float], names: list[str]
) -> tuple[list[str], dict[str, NDArray[Any]]]:
    """Weights of (attribute, tag) as packed rows: the A attributes that have any, and arrays."""
    of_attribute: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for (attribute, tag), weight in weights.items():
        if weight:
            of_attribute[names[int(attribute)]].append((int(tag), weight))
    attributes = sorted(of_attribute)
    entries = [entry for name in attributes for entry in sorted(of_attribute[name])]
    return attributes, {
        "attribute_offsets": offsets_of([len(of_attribute[n]) for n in attributes]).astype(
            np.int32
        ),
        "weight_tags": np.array([tag for tag, _ in entries], dtype=np.int16),
        "weights": np.array([weight for _, weight in entries], dtype=np.float32),
    }
