"""Distillation: a network learns from what trained taggers say of a sentence, beside gold tags.

After Hinton, Vinyals and Dean (2015), of whole chains as in Wang et al. (2021): the cross-entropy
of two linear chains needs of the teacher only how probable each tag is at each word, and how
often each tag is expected to follow each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.decoding import forward_backward
from service.errors import RecipeError
from service.store.directory import make_tagger, read_manifest, read_parameters
from service.taggers import Parameters, Tagger
from service.text.conll import TaggedSentence
from service.text.tokens import Tokens

_SENTENCES_AT_ONCE = 1000

_UNSEEN_WORDS = 50_000


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is expected of the K tags of a sentence of T words.

    Attributes
    ----------
    tags : (T, K) the probability of each tag at each word.
    moves : (K, K) how often each tag is expected to follow each.
    """

    tags: NDArray[np.float32]
    moves: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Teacher:
    """A trained tagger, and what it is made from."""

    tagger: Tagger
    parameters: Parameters


def read_teacher(directory: Path, states: Sequence[str]) -> Teacher:
    """A trained tagger from its directory.

    Parameters
    ----------
    directory : of a model.
    states : the K tags that it must work in, which may be BIOES.

    Raises
    ------
    ModelError
        Where the directory is not right.
    RecipeError
        Where it works in other tags.
    """
    manifest = read_manifest(directory)
    parameters = read_parameters(directory, manifest)
    found = parameters.vocabularies.get("states", list(parameters.labels))
    if found != list(states):
        raise RecipeError(f"{directory}: works in {', '.join(found)}, not in {', '.join(states)}")
    tagger = make_tagger(directory, manifest, parameters, _UNSEEN_WORDS)
    return Teacher(tagger, parameters)


def expectations(
    sentences: Sequence[TaggedSentence],
    states: Sequence[str],
    teachers: Sequence[Tagger],
    gold_share: float,
) -> Iterator[Expectation]:
    """What gold tags and teachers, on the average, say of each sentence.

    Parameters
    ----------
    sentences : with at least one word each, and tags that are all in `states`.
    states : the K tags.
    teachers : at least one, of the same K tags.
    gold_share : how much the gold tags count, between 0 and 1; the teachers share the rest.
    """
    tag_ids = {tag: i for i, tag in enumerate(states)}
    one_hot = np.eye(len(states), dtype=np.float32)
    for i in range(0, len(sentences), _SENTENCES_AT_ONCE):
        part = sentences[i : i + _SENTENCES_AT_ONCE]
        tokens = Tokens.from_sentences([sentence.words for sentence in part])
        posteriors = [
            forward_backward(teacher.score(tokens.words, tokens.sentence_offsets))
            for teacher in teachers
        ]
        tags = np.mean([posterior.marginals for posterior in posteriors], axis=0)
        moves = np.mean([posterior.expected_moves() for posterior in posteriors], axis=0)
        bounds = pairwise(tokens.sentence_offsets.tolist())
        for sentence, (first, end), expected in zip(part, bounds, moves, strict=True):
            gold = one_hot[[tag_ids[tag] for tag in sentence.tags]]  # (T, K)
            yield Expectation(
                _mixed(gold, tags[first:end], gold_share),
                _mixed(gold[:-1].T @ gold[1:], expected, gold_share),
            )


def _mixed(
    gold: NDArray[np.float32], taught: NDArray[np.float64], gold_share: float
) -> NDArray[np.float32]:
    return (gold_share * gold + (1 - gold_share) * taught).astype(np.float32)
