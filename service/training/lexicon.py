"""What a CRF knows of words before it has seen a sentence, compiled.

Clusters, ambiguity classes and gazetteers.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.text.conll import TaggedSentence
from service.training.ambiguity_classes import ambiguity_classes
from service.training.clusters import cluster, read_vectors
from service.training.gazetteers import common_words, compile_gazetteers
from service.training.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The arrays and vocabularies that `service.taggers.crf_lexicon.lexicon_of` takes."""

    arrays: dict[str, NDArray[Any]]
    vocabularies: dict[str, list[str]]


def compile_lexicon(
    recipe: Recipe,
    data: Path,
    sentences: Sequence[TaggedSentence],
    tag_counts: Mapping[str, Counter[str]],
) -> Lexicon:
    """Compile what a recipe has of it: vectors, gazetteers, and texts that were tagged.

    Parameters
    ----------
    recipe : names the files.
    data : the folder that they lie in.
    sentences : training sentences, which tell the words that are no names.
    tag_counts : how often each word bears each tag in the texts.

    Raises
    ------
    CorpusError
        Where a file cannot be read.
    """
    arrays: dict[str, NDArray[Any]] = {}
    vocabularies: dict[str, list[str]] = {}
    if recipe.vectors is not None:
        words, vectors = read_vectors(data / recipe.vectors.file, recipe.vectors.most)
        grains = [cluster(vectors, grain, recipe.seed) for grain in recipe.vectors.grains]
        arrays["clusters"] = np.stack(grains, axis=1).astype(np.int16)  # (V, G)
        vocabularies["cluster_words"] = words
    if tag_counts:
        class_of = ambiguity_classes(tag_counts)
        classes = sorted(set(class_of.values()))
        arrays["ambiguities"] = np.searchsorted(classes, list(class_of.values())).astype(np.int32)
        vocabularies["ambiguity_classes"] = classes
        vocabularies["ambiguity_words"] = list(class_of)
    if recipe.gazetteers:
        common = common_words(sentence.words for sentence in sentences)
        labels, phrases, members = compile_gazetteers(recipe.gazetteers, data, common)
        arrays["gazetteer_members"] = members.astype(np.int32)
        vocabularies["gazetteer_classes"] = labels
        vocabularies["gazetteer_phrases"] = phrases
    return Lexicon(arrays, vocabularies)
