"""What a CRF knows of words before it has seen a sentence: clusters and gazetteers, compiled."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.text.conll import TaggedSentence
from service.training.clusters import cluster, read_vectors
from service.training.gazetteers import common_words, compile_gazetteers
from service.training.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The arrays and vocabularies that `service.taggers.crf.lexicon_of` takes."""

    arrays: dict[str, NDArray[Any]]
    vocabularies: dict[str, list[str]]


def compile_lexicon(recipe: Recipe, data: Path, sentences: Sequence[TaggedSentence]) -> Lexicon:
    """Compile the vectors and gazetteers of a recipe; without them the lexicon is empty.

    Parameters
    ----------
    recipe : names the files.
    data : the folder that they lie in.
    sentences : training sentences, which tell the words that are no names.

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
    if recipe.gazetteers:
        common = common_words(sentence.words for sentence in sentences)
        classes, phrases, members = compile_gazetteers(recipe.gazetteers, data, common)
        arrays["gazetteer_members"] = members.astype(np.int32)
        vocabularies["gazetteer_classes"] = classes
        vocabularies["gazetteer_phrases"] = phrases
    return Lexicon(arrays, vocabularies)
