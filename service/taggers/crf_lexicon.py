"""What a CRF knows of words before it has seen a sentence; each of it may be missing."""

from collections.abc import Mapping

import numpy as np

from service.taggers.base import Parameters
from service.text.features import NO_CLASSES, NO_CLUSTERS, WordClusters
from service.text.gazetteers import Gazetteers


def lexicon_of(parameters: Parameters) -> tuple[WordClusters, Mapping[str, str], Gazetteers]:
    """The clusters of words, their ambiguity classes, and the gazetteers of a CRF.

    Parameters
    ----------
    parameters : with any of

        - the vocabulary ``cluster_words`` (V) and the array ``clusters`` (V, G): see `WordClusters`
        - the vocabularies ``ambiguity_words`` (W) and ``ambiguity_classes`` (C) and the array
          ``ambiguities`` (W,), the class of each word: see `word_features`
        - the vocabularies ``gazetteer_phrases`` (N) and ``gazetteer_classes`` (C) and the array
          ``gazetteer_members`` (N,): see `Gazetteers`

    Raises
    ------
    ValueError
        Where they do not fit each other.
    """
    given = parameters.vocabularies.keys() | parameters.arrays.keys()
    return (
        _clusters_of(parameters) if given & {"cluster_words", "clusters"} else NO_CLUSTERS,
        _classes_of(parameters) if given & {"ambiguity_words", "ambiguities"} else NO_CLASSES,
        _gazetteers_of(parameters)
        if given & {"gazetteer_phrases", "gazetteer_members"}
        else Gazetteers([], [], np.zeros(0, dtype=np.int64)),
    )


def _clusters_of(parameters: Parameters) -> WordClusters:
    ids = parameters.ids("cluster_words")
    return WordClusters(ids, parameters.array("clusters", (len(ids), None), "iu"))


def _classes_of(parameters: Parameters) -> Mapping[str, str]:
    words = parameters.vocabulary("ambiguity_words")
    classes = parameters.vocabulary("ambiguity_classes")
    of_words = parameters.array("ambiguities", (len(words),), "iu")
    if len(words) and not 0 <= of_words.min() <= of_words.max() < len(classes):
        raise ValueError("the array ambiguities names a class that is not there")
    return {word: classes[i] for word, i in zip(words, of_words.tolist(), strict=True)}


def _gazetteers_of(parameters: Parameters) -> Gazetteers:
    classes = parameters.vocabulary("gazetteer_classes")
    phrases = parameters.vocabulary("gazetteer_phrases")
    members = parameters.array("gazetteer_members", (len(phrases),), "iu")
    if len(members) and not 0 <= members.min() <= members.max() < 1 << len(classes):
        raise ValueError("the array gazetteer_members names a class that is not there")
    return Gazetteers(classes, phrases, members)
