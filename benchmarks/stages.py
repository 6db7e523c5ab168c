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
from flask import Flask
from werkzeug.test import create_environ, run_wsgi_app

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
    """Runs the stages of one model on the same texts, again and again.

    Parameters
    ----------
    model : the model.
    texts : those of one request.

    Attributes
    ----------
    path, body : the request.
    """

    def __init__(self, model: LoadedModel, texts: list[str]) -> None:
        self._model = model
        self._texts = texts
        self._tokenizer = Tokenizer()
        name = model.manifest.name
        settings = Settings(models=name, max_documents=len(texts), max_body_bytes=2**31)
        registry = Registry({name: model.manifest}, {name: model})
        self._app = create_app(settings, registry)
        alone = len(texts) == 1
        documents = [{"text": text} for text in texts]
        asked = documents[0] if alone else {"documents": documents}
        self.path = f"/{model.manifest.task}" if alone else f"/{model.manifest.task}/batch"
        self.body = json.dumps({"model": name, **asked}).encode()

    def run(self) -> Times:
        """CPU seconds of each stage."""
        tagger, times = self._model.tagger, {}
        times["tokenize"], documents = timed(self._tokenize)
        parts = parts_of(documents.words, documents.sentence_offsets, BATCH_TOKENS)
        batches = [(words, offsets) for _, words, offsets in parts]
        times["score"], scores = timed(lambda: [tagger.score(*batch) for batch in batches])
        times["decode"], paths = timed(lambda: [best_paths(each) for each in scores])
        if self._model.manifest.task == "ner":
            path = np.concatenate(paths)
            times["spans"], _ = timed(lambda: spans_of_path(path, tagger.labels))
        pipeline, _ = timed(lambda: annotate_all(self._model, documents))
        application, _ = timed(self.request())
        within = sum(times.values()) - times["tokenize"]
        times["rest of the pipeline"] = max(0.0, pipeline - within)
        times["request and JSON"] = max(0.0, application - times["tokenize"] - pipeline)
        return times

    def request(self) -> Callable[[], None]:
        """The request, which stands ready."""
        return answered(self._app, self.path, self.body)

    def _tokenize(self) -> Documents:
        return self._tokenizer.tokenize_all(self._texts)


def answered(app: Flask, path: str, body: bytes) -> Callable[[], None]:
    """A request that stands ready; it is right once it is answered."""
    environ = create_environ(path, method="POST", data=body, content_type="application/json")

    def run() -> None:
        answer, status, _ = run_wsgi_app(app, environ)
        assert status == "200 OK", b"".join(answer)

    return run


def timed(step: Callable[[], T]) -> tuple[float, T]:
    """The CPU seconds of a step, and what it gave."""
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
