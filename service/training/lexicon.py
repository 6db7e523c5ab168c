"""What a CRF knows of words before it has seen a sentence, compiled.

Clusters, ambiguity classes and gazetteers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.errors import RecipeError
from service.store.registry import load_model
from service.text.conll import TaggedSentence
from service.training.ambiguity_classes import ambiguity_classes
from service.training.clusters import cluster, read_vectors
from service.training.gazetteers import common_words, compile_gazetteers
from service.training.recipe import Recipe

_UNSEEN_WORDS = 200_000


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The arrays and vocabularies that `service.taggers.crf_lexicon.lexicon_of` takes."""

    arrays: dict[str, NDArray[Any]]
    vocabularies: dict[str, list[str]]


def compile_lexicon(recipe: Recipe, data: Path, sentences: Sequence[TaggedSentence]) -> Lexicon:
    """Compile the vectors, texts and gazetteers of a recipe; without them the lexicon is empty.

    Parameters
    ----------
    recipe : names the files.
    data : the folder that they lie in.
    sentences : training sentences, which tell the words that are no names.

    Raises
    ------
    CorpusError, ModelError
        Where a file or the model that tags the texts cannot be read.
    RecipeError
        Where there is not one teacher for texts, or none where there are no texts.
    """
    if len(recipe.teachers) != bool(recipe.texts):
        raise RecipeError("texts: a CRF has one teacher, which tags them, or neither")
    arrays: dict[str, NDArray[Any]] = {}
    vocabularies: dict[str, list[str]] = {}
    if recipe.vectors is not None:
        words, vectors = read_vectors(data / recipe.vectors.file, recipe.vectors.most)
        grains = [cluster(vectors, grain, recipe.seed) for grain in recipe.vectors.grains]
        arrays["clusters"] = np.stack(grains, axis=1).astype(np.int16)  # (V, G)
        vocabularies["cluster_words"] = words
    if recipe.texts:
        tagger = load_model(data / recipe.teachers[0], _UNSEEN_WORDS).tagger
        files = [file for text in recipe.texts for file in text.sentences(data)]
        class_of = ambiguity_classes(files, tagger)
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
