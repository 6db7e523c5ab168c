"""How cost grows: `python -m benchmarks.growth TEXTS REPEATS` prints CPU microseconds a token."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.trellis import load, run_model
from service.decoding import ChainScores, Constraints, Transitions, best_paths
from service.store.registry import LoadedModel
from service.taggers import ARCHITECTURES, Parameters
from service.text.tokenizer import Tokenizer
from service.text.tokens import offsets_of

MODEL = "en-ner-crf"
SENTENCE_TOKENS = (1, 10, 100, 1_000, 10_000)
BATCH_TEXTS = (1, 8, 32, 128, 512, 2_048)
TAGS = (7, 17, 50, 100)
VOCABULARY = (1_000, 10_000, 100_000)
BATCH_SENTENCES, BATCH_LENGTH = 500, 20  # of the two that are measured on random scores

Row = tuple[int, float]


def by_sentence_length(texts: Sequence[str], repeats: int) -> Iterable[Row]:
    """One sentence of so many tokens, text to spans."""
    model, tokenizer = load(MODEL), Tokenizer()
    words = [w for text in texts for w in tokenizer.tokenize(text).words if w.isalpha()]
    for count in SENTENCE_TOKENS:
        text = " ".join((words * (count // len(words) + 1))[:count])
        tokens = len(tokenizer.tokenize(text).words)
        run = partial(_run, model, tokenizer, [text])
        yield count, _us_a_token(run, tokens, repeats)


def by_batch_size(texts: Sequence[str], repeats: int) -> Iterable[Row]:
    """So many texts at once, text to spans."""
    model, tokenizer = load(MODEL), Tokenizer()
    texts = list(texts) * (1 + max(BATCH_TEXTS) // len(texts))
    for count in BATCH_TEXTS:
        some = texts[:count]
        tokens = sum(len(tokenizer.tokenize(text).words) for text in some)
        run = partial(_run, model, tokenizer, some)
        yield count, _us_a_token(run, tokens, repeats)


def by_tags(repeats: int) -> Iterable[Row]:
    """Decoding random scores of so many tags."""
    offsets = offsets_of([BATCH_LENGTH] * BATCH_SENTENCES)
    rng = np.random.default_rng(0)
    for tags in TAGS:
        scores = ChainScores(
            rng.normal(size=(offsets[-1], tags)),
            Transitions(
                rng.normal(size=(tags, tags)), rng.normal(size=tags), rng.normal(size=tags)
            ),
            offsets,
        )
        run = partial(best_paths, scores)
        yield tags, _us_a_token(run, int(offsets[-1]), repeats)


def by_vocabulary(repeats: int) -> Iterable[Row]:
    """Scoring words of a vocabulary of so many, each as likely: an HMM of ten tags."""
    offsets = offsets_of([BATCH_LENGTH] * BATCH_SENTENCES)
    rng = np.random.default_rng(0)
    tags = 10
    for count in VOCABULARY:
        words = [f"w{i}" for i in range(count)]
        arrays = {
            "transitions": np.zeros((tags, tags)),
            "start": np.zeros(tags),
            "end": np.zeros(tags),
            "emissions": np.zeros((count, tags)),
            "suffix_emissions": np.zeros((1, tags)),
        }
        labels = tuple(f"T{i}" for i in range(tags))
        parameters = Parameters(labels, arrays, {"words": words, "suffixes": [""]})
        tagger = ARCHITECTURES["hmm"](parameters, Constraints.none(tags), 0)
        text = [words[i] for i in rng.integers(count, size=offsets[-1]).tolist()]
        run = partial(tagger.score, text, offsets)
        yield count, _us_a_token(run, len(text), repeats)


def _run(model: LoadedModel, tokenizer: Tokenizer, texts: list[str]) -> list[list[object]]:
    return list(run_model(model, tokenizer, texts))


def _us_a_token(run: Callable[[], object], tokens: int, repeats: int) -> float:
    """Median CPU microseconds of a token, after a run that warms up.

    Short runs are repeated within a measurement, up to some ten milliseconds.
    """
    started = time.process_time()
    run()
    inner = max(1, int(0.01 / max(time.process_time() - started, 1e-6)))
    times = []
    for _ in range(repeats):
        started = time.process_time()
        for _ in range(inner):
            run()
        times.append((time.process_time() - started) / inner)
    return 1e6 * median(times) / tokens


def main(texts_file: str, repeats: str) -> None:
    """Measure all, and print it as JSON."""
    texts = next(iter(json.loads(Path(texts_file).read_text(encoding="utf-8")).values()))
    count = int(repeats)
    grown = {
        "sentence length": by_sentence_length(texts, count),
        "batch size": by_batch_size(texts, count),
        "tags": by_tags(count),
        "vocabulary": by_vocabulary(count),
    }
    print(json.dumps({name: list(rows) for name, rows in grown.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
