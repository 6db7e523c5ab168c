"""Where the time goes: ``MODEL TEXTS SET ROUNDS`` prints the CPU seconds of each stage as JSON.

The stages are run one after another, each on everything. What the pipeline and the application
need beyond them is the difference to running these whole.
"""

import gc
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TypeVar

import numpy as np

from benchmarks.trellis import annotate_all, load
from service.api.app import create_app
from service.config import Settings
from service.decoding import best_paths
from service.pipeline import BATCH_TOKENS
from service.store.registry import LoadedModel, Registry
from service.text.packing import parts_of
from service.text.spans import spans_of_path
from service.text.tokenizer import Tokenizer
from service.text.tokens import Documents

T = TypeVar("T")
Times = dict[str, float]


class Stages:
    """Runs the stages of one model on the same texts, again and again."""

    def __init__(self, model: LoadedModel, texts: list[str]) -> None:
        self._model = model
        self._texts = texts
        self._tokenizer = Tokenizer()
        name = model.manifest.name
        settings = Settings(models=name, max_documents=len(texts), max_body_bytes=2**31)
        registry = Registry({name: model.manifest}, {name: model})
        self._client = create_app(settings, registry).test_client()
        documents = [{"text": text} for text in texts]
        self._body = json.dumps({"model": name, "documents": documents}).encode()

    def run(self) -> Times:
        """CPU seconds of each stage."""
        tagger, times = self._model.tagger, {}
        times["tokenize"], documents = _timed(self._tokenize)
        parts = parts_of(documents.words, documents.sentence_offsets, BATCH_TOKENS)
        batches = [(words, offsets) for _, words, offsets in parts]
        times["score"], scores = _timed(lambda: [tagger.score(*batch) for batch in batches])
        times["decode"], paths = _timed(lambda: [best_paths(each) for each in scores])
        if self._model.manifest.task == "ner":
            path = np.concatenate(paths)
            times["spans"], _ = _timed(lambda: spans_of_path(path, tagger.labels))
        pipeline, _ = _timed(lambda: annotate_all(self._model, documents))
        application, _ = _timed(self._post)
        within = sum(times.values()) - times["tokenize"]
        times["rest of the pipeline"] = max(0.0, pipeline - within)
        times["request and JSON"] = max(0.0, application - times["tokenize"] - pipeline)
        return times

    def _tokenize(self) -> Documents:
        return self._tokenizer.tokenize_all(self._texts)

    def _post(self) -> None:
        response = self._client.post(
            f"/{self._model.manifest.task}/batch", data=self._body, content_type="application/json"
        )
        assert response.status_code == 200


def _timed(step: Callable[[], T]) -> tuple[float, T]:
    started = time.process_time()
    result = step()
    return time.process_time() - started, result


def main(name: str, texts_file: str, texts: str, rounds: str) -> None:
    """Print the medians of the rounds, after one that warms up."""
    sets = json.loads(Path(texts_file).read_text(encoding="utf-8"))
    stages = Stages(load(name), sets[texts])
    stages.run()
    gc.collect()
    gc.freeze()  # as a server does with what it has loaded
    measured = [stages.run() for _ in range(int(rounds))]
    print(json.dumps({stage: median(times[stage] for times in measured) for stage in measured[0]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
