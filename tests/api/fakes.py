"""Models of a few rules, under the names of shipped ones, and the registry that holds them."""

import math
import os
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np

from service.decoding import ChainScores, Constraints, Transitions, bio_constraints
from service.store.directory import write_model
from service.store.manifest import Manifest
from service.store.registry import LoadedModel, Registry
from service.taggers import FiredFeature, Parameters
from service.text import tokenizer
from service.text.tokens import Offsets

FAILING_WORD = "KABOOM"
SLOW_WORD = "SLOWLY"
RELEASE_FILE = "TRELLIS_TEST_RELEASE_FILE"
"""Environment variable with the file that ends the slow requests as soon as it exists."""
_SLOW_AT_MOST_S = 60.0

NER_LABELS = ("O", "B-LOC", "I-LOC", "B-ORG", "I-ORG", "B-PER", "I-PER")
PTB_LABELS = ("NN", "DT", "MD", "NNP", "VB", ".")
UD_LABELS = ("NOUN", "DET", "AUX", "PROPN", "VERB", "PUNCT")
_CLOSED = {"the": 1, "will": 2, "back": 4, ".": 5}
_ORGANISATIONS = {"United", "Airlines"}
_PERSONS = {"👞", "𐤃𐤄", "👩‍👩‍👧"}


class RuleTagger:
    """Gives each word the tag that a rule says; `FAILING_WORD` raises, `SLOW_WORD` takes long.

    A tag that the rule does not say is a third as probable, as far as `constraints` allow it.
    """

    def __init__(
        self,
        labels: tuple[str, ...],
        rule: Callable[[list[str]], list[int]],
        constraints: Constraints,
        probabilistic: bool,
    ) -> None:
        self.labels = labels
        self.probabilistic = probabilistic
        self._rule = rule
        self._transitions = Transitions(constraints.transitions, constraints.start, constraints.end)

    def score(self, words: list[str], sentence_offsets: Offsets) -> ChainScores:
        if FAILING_WORD in words:
            raise RuntimeError(f"the text of a user: {' '.join(words)}")
        if SLOW_WORD in words:
            _compute(Path(os.environ[RELEASE_FILE]))
        size = len(self.labels)
        emissions = np.full((len(words), size), -math.log(3))
        sentences = [words[first:end] for first, end in pairwise(sentence_offsets.tolist())]
        tags = [tag for sentence in sentences for tag in self._rule(sentence)]
        emissions[np.arange(len(words)), tags] = 0.0
        return ChainScores(emissions, self._transitions, sentence_offsets)

    def fired_features(
        self, words: list[str], sentence_offsets: Offsets
    ) -> list[list[FiredFeature]]:
        """Every tag is a third as probable as that of the rule, but for the rule."""
        others = np.full(len(self.labels), -math.log(3))
        rows = self.score(words, sentence_offsets).emissions - others
        return [
            [FiredFeature("0:any", others), FiredFeature(f"0:word={word}", row)]
            for word, row in zip(words, rows, strict=True)
        ]


def _compute(release: Path) -> None:
    """Keep Python busy, as a long request does: a sleep would let go of the interpreter."""
    end = time.monotonic() + _SLOW_AT_MOST_S
    while not release.exists() and time.monotonic() < end:
        sum(range(10_000))


def _tags(words: list[str]) -> list[int]:
    return [_CLOSED.get(word, 3 if word[:1].isupper() else 0) for word in words]


def _entities(words: list[str]) -> list[int]:
    """Words with capitals are persons, apart from organisations; so are a few that have none."""
    tags, previous = [], 0
    for word in words:
        named = word != word.lower() or word in _PERSONS
        begin = (3 if word in _ORGANISATIONS else 5) if named else 0
        previous = begin + 1 if begin and previous in (begin, begin + 1) else begin
        tags.append(previous)
    return tags


def _manifest(name: str, task: str, tagset: str | None, labels: tuple[str, ...]) -> Manifest:
    return Manifest.model_validate(
        {
            "format": 1,
            "name": name,
            "version": "1.0.0",
            "description": "A few rules.",
            "language": "en",
            "task": task,
            "tagset": tagset,
            "architecture": "hmm",
            "labels": labels,
            "tokenizer": tokenizer.VERSION,
            "default": True,
            "licence": "CC BY-SA 4.0",
            "sources": [
                {
                    "name": "EWT",
                    "licence": "CC BY-SA 4.0",
                    "url": "https://example.org/",
                    "files": ["train.conllu"],
                }
            ],
            "scores": [
                {
                    "data": "EWT",
                    "split": "test",
                    "metric": "accuracy",
                    "scheme": "gold tokens",
                    "value": 0.5,
                }
            ],
            "files": {},
        }
    )


def rule_registry(
    unloaded: tuple[str, ...] = ("en-pos-hmm",), *, probabilistic: bool = True
) -> Registry:
    """The models of this file, apart from the unloaded all of them loaded."""

    def tags(labels: tuple[str, ...]) -> RuleTagger:
        return RuleTagger(labels, _tags, Constraints.none(len(labels)), probabilistic)

    entities = RuleTagger(NER_LABELS, _entities, bio_constraints(NER_LABELS), probabilistic)
    models = [
        (_manifest("en-ner-crf", "ner", None, NER_LABELS), entities),
        (_manifest("en-pos-crf", "tag", "ptb", PTB_LABELS), tags(PTB_LABELS)),
        (_manifest("en-pos-hmm", "tag", "ptb", PTB_LABELS), tags(PTB_LABELS)),
        (_manifest("en-upos-crf", "tag", "ud", UD_LABELS), tags(UD_LABELS)),
    ]
    return Registry(
        {manifest.name: manifest for manifest, _ in models},
        {
            manifest.name: LoadedModel(manifest, tagger)
            for manifest, tagger in models
            if manifest.name not in unloaded
        },
    )


def make_model_dir(models: Path, name: str) -> Path:
    """Write a real model of two tags: it knows one word, ``the``."""
    labels = ("DT", "NN")
    never = -np.inf
    arrays = {
        "start": np.zeros(2),
        "transitions": np.zeros((2, 2)),
        "end": np.zeros(2),
        "emissions": np.array([[0.0, never]]),
        "suffix_emissions": np.array([[never, 0.0]]),
    }
    parameters = Parameters(labels, arrays, {"words": ["the"], "suffixes": [""]})
    write_model(models / name, _manifest(name, "tag", "ptb", labels), parameters, "A test.")
    return models / name
