"""Runs a model of Trellis as the service does, below HTTP: ``MODEL TEXTS [AT_ONCE]``.

`AT_ONCE` is how many texts share a batch; else as many as the service puts into one.
"""

import sys
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.peers.protocol import serve
from service import __version__
from service.annotation import Annotation
from service.config import Settings
from service.pipeline import annotate
from service.store.registry import LoadedModel, load_model
from service.text.tokenizer import Tokenizer
from service.text.tokens import Tokens

SETTINGS = Settings()


def load(name: str) -> LoadedModel:
    """A model that ships, with the default settings."""
    return load_model(SETTINGS.models_path / name, SETTINGS.max_unseen_words)


def run_model(model: LoadedModel, tokenizer: Tokenizer, texts: list[str]) -> Iterator[list[object]]:
    """What is measured: the tags of each text, or its spans with their places."""
    spans = model.manifest.task == "ner"
    annotations = annotate_all(model, tokenizer.tokenize_all(texts))
    return map(_spans if spans else _tags, annotations)


def annotate_all(model: LoadedModel, documents: Sequence[Tokens]) -> list[Annotation]:
    """What the pipeline makes of tokenized texts."""
    return annotate(
        model.tagger,
        documents,
        spans=model.manifest.task == "ner",
        max_sentence_tokens=SETTINGS.max_sentence_tokens,
    )


def _tags(annotation: Annotation) -> list[object]:
    return [*annotation.tags]


def _spans(annotation: Annotation) -> list[object]:
    spans = annotation.spans
    if not spans:
        return []
    places = annotation.places
    assert places is not None
    starts, ends = places
    return [(span.label, starts[span.token_start], ends[span.token_end - 1]) for span in spans]


def main(name: str, texts_file: str, at_once: str = "") -> None:
    """Measure a model."""
    model = load(name)
    tokenizer = Tokenizer()

    def run(texts: list[str]) -> Iterator[list[object]]:
        size = int(at_once) if at_once else max(1, len(texts))
        for i in range(0, len(texts), size):
            yield from run_model(model, tokenizer, texts[i : i + size])

    versions = {"Trellis": __version__, "NumPy": np.__version__}
    serve(run, texts_file, versions)


if __name__ == "__main__":
    main(*sys.argv[1:])
