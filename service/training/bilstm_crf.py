"""Estimating a biLSTM-CRF, with or without characters, in PyTorch; serving does without it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from service.decoding import Constraints
from service.taggers.base import Parameters
from service.taggers.bilstm_crf import states_of
from service.text.bioes import bioes_of
from service.text.conll import TaggedSentence
from service.text.spelling import CASES
from service.training.batches import Batches, Vocabulary, frequent_characters
from service.training.bilstm_crf_options import BilstmCrfOptions
from service.training.evaluation import Evaluator
from service.training.fitting import Fitting
from service.training.network import BilstmCrf, Widths
from service.training.network_parameters import parameters_of
from service.training.network_tagger import NetworkTagger
from service.training.word_vectors import choose_words, initial_vectors

_ROWS_AT_LOAD = 5_000
"""Words whose rows are made when the model loads, the frequent first: 4 kB each."""

_MAX_SENTENCE_TOKENS = 10_000


def estimate(
    sentences: Sequence[TaggedSentence],
    dev: Sequence[TaggedSentence],
    labels: tuple[str, ...],
    constraints: Constraints,
    options: BilstmCrfOptions,
    pretrained: tuple[Sequence[str], NDArray[np.float32]] | None,
    seed: int,
    checkpoint: Path | None = None,
) -> Parameters:
    """Estimate a biLSTM-CRF of K tags, showing progress on standard error.

    Parameters
    ----------
    sentences : training sentences, whose tags are all in `labels`.
    dev : sentences to stop by and to choose the best epoch by; without any the last is taken.
    labels : the K tags.
    constraints : of the K tags; they hold in training too.
    options : widths and schedule.
    pretrained : words, the frequent first, and their vectors (V, D).
    seed : of all that is random.
    checkpoint : a file to keep the state of the training in; an interrupted one goes on from it.

    Returns
    -------
    The parameters that `service.taggers.bilstm_crf.BilstmCrfTagger` takes.
    """
    bioes = options.scheme == "bioes"
    if bioes:
        sentences = [TaggedSentence(s.words, bioes_of(s.tags)) for s in sentences]
    tags = sorted({tag for sentence in sentences for tag in sentence.tags}) if bioes else labels
    states = {"states": list(tags)} if bioes else {}
    outside, constraints = states_of(Parameters(labels, {}, states), constraints)
    torch.set_num_threads(options.threads)
    torch.manual_seed(seed)
    known, vectors = pretrained or ([], np.empty((0, options.word_width), dtype=np.float32))
    words = choose_words(sentences, known, options.words, options.min_word_count)
    vocabulary = Vocabulary(words, frequent_characters(sentences))
    rng = np.random.default_rng(seed)
    network = BilstmCrf(
        torch.from_numpy(initial_vectors(words, known, vectors, vectors.shape[1], rng)),
        len(CASES),
        len(vocabulary.characters),
        Widths(
            options.case_width,
            options.character_width,
            options.character_hidden,
            options.hidden,
        ),
        options.dropout,
        constraints,
    )
    task = "ner" if (constraints.transitions < 0).any() else "tag"

    def measure(network: BilstmCrf) -> float | None:
        tagger = NetworkTagger(network, vocabulary, outside, constraints)
        evaluator = Evaluator(tagger, task, _MAX_SENTENCE_TOKENS)
        return evaluator.gold_words(dev, "dev", "dev").value if dev else None

    batches = Batches(
        sentences,
        vocabulary,
        {tag: i for i, tag in enumerate(tags)},
        options.sentences_at_once,
    )
    Fitting(
        network,
        batches,
        measure,
        options,
        seed,
        checkpoint,
    ).run()
    counts = Counter(word for sentence in sentences for word in sentence.words)
    frequent = [word for word, _ in counts.most_common(_ROWS_AT_LOAD)]
    parameters = parameters_of(network, vocabulary, labels, frequent)
    return replace(parameters, vocabularies={**parameters.vocabularies, **states})
