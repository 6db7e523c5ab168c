"""Runs a model of Trellis as the service does, below HTTP: `python -m benchmarks.trellis`.

``MODEL TEXTS`` measures texts to tags or spans. ``MODEL TEXTS SET ROUNDS`` prints instead where
the time of one set goes.
"""

import json
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.peers.protocol import serve
from service import __version__
from service.api.app import create_app
from service.config import Settings
from service.decoding import best_paths
from service.pipeline import BATCH_TOKENS, Annotation, annotate
from service.store.registry import LoadedModel, Registry, load_model
from service.text.spans import spans_of_path
from service.text.tokenizer import Tokenizer
from service.text.tokens import Tokens, offsets_of

SETTINGS = Settings()


def load(name: str) -> LoadedModel:
    """A model that ships, with the default settings."""
    return load_model(SETTINGS.models_path / name, SETTINGS.max_unseen_words)


def run_model(model: LoadedModel, tokenizer: Tokenizer, texts: list[str]) -> Iterator[list[object]]:
    """What is measured: the tags of each text, or its spans with their places."""
    spans = model.manifest.task == "ner"
    documents = [tokenizer.tokenize(text) for text in texts]
    return map(_spans if spans else _tags, _annotate(model, documents))


def _annotate(model: LoadedModel, documents: Sequence[Tokens]) -> list[Annotation]:
    return annotate(
        model.tagger,
        documents,
        spans=model.manifest.task == "ner",
        max_sentence_tokens=SETTINGS.max_sentence_tokens,
    )


def _tags(annotation: Annotation) -> list[object]:
    return [annotation.labels[tag_id] for tag_id in annotation.tag_ids.tolist()]


def _spans(annotation: Annotation) -> list[object]:
    starts, ends = annotation.tokens.starts, annotation.tokens.ends
    assert starts is not None
    assert ends is not None
    return [
        (span.label, int(starts[span.token_start]), int(ends[span.token_end - 1]))
        for span in annotation.spans
    ]


def stages(name: str, texts: list[str], rounds: int) -> dict[str, float]:
    """CPU seconds of each stage of a request that holds all texts, medians of rounds.

    The stages are run one after another on everything. What the pipeline and the application
    need beyond them is the difference to running these whole.
    """
    model = load(name)
    tokenizer = Tokenizer()
    app = create_app(
        Settings(models=name, max_documents=len(texts), max_body_bytes=2**31),
        Registry({name: model.manifest}, {name: model}),
    )
    task = model.manifest.task
    body = json.dumps({"model": name, "documents": [{"text": text} for text in texts]})
    client = app.test_client()
    measured: list[dict[str, float]] = []
    for _ in range(rounds + 1):  # the first warms the tables
        clock = time.process_time()
        times: dict[str, float] = {}

        def lap(stage: str, times: dict[str, float] = times) -> None:
            nonlocal clock
            now = time.process_time()
            times[stage] = now - clock
            clock = time.process_time()

        documents = [tokenizer.tokenize(text) for text in texts]
        lap("tokenize")
        batches = list(_batches(documents))
        lap("pack")
        scores = [model.tagger.score(words, offsets) for words, offsets in batches]
        lap("score")
        paths = [best_paths(each) for each in scores]
        lap("decode")
        if task == "ner":
            spans_of_path(np.concatenate(paths), model.tagger.labels)
        lap("spans")
        _annotate(model, documents)
        lap("pipeline")
        response = client.post(f"/{task}/batch", data=body, content_type="application/json")
        lap("application")
        assert response.status_code == 200
        below = times["score"] + times["decode"] + times["spans"]
        times["pack"] = max(0.0, times.pop("pipeline") - below)
        below += times["pack"] + times["tokenize"]
        times["request and JSON"] = max(0.0, times.pop("application") - below)
        measured.append(times)
    return {
        stage: statistics.median(times[stage] for times in measured[1:]) for stage in measured[0]
    }


def _batches(documents: Sequence[Tokens]) -> Iterator[tuple[list[str], np.ndarray]]:
    """The sentences of all documents, in batches as large as the pipeline's."""
    words: list[str] = []
    lengths: list[int] = []
    for tokens in documents:
        for first, end in pairwise(tokens.sentence_offsets.tolist()):
            if lengths and len(words) + end - first > BATCH_TOKENS:
                yield words, offsets_of(lengths)
                words, lengths = [], []
            words = words + tokens.words[first:end]
            lengths.append(end - first)
    yield words, offsets_of(lengths)


def main(name: str, texts_file: str, only: str = "", rounds: str = "") -> None:
    """Measure a model."""
    if only:
        texts = json.loads(Path(texts_file).read_text(encoding="utf-8"))[only]
        print(json.dumps(stages(name, texts, int(rounds))))
        return
    model = load(name)
    tokenizer = Tokenizer()
    versions = {"Trellis": __version__, "NumPy": np.__version__}
    serve(lambda texts: run_model(model, tokenizer, texts), texts_file, versions)


if __name__ == "__main__":
    main(*sys.argv[1:])
