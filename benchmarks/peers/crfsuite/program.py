"""Runs a trained CRF of python-crfsuite: ``tutorial|tuned ner|pos MODEL TEXTS``."""

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import islice
from typing import Any

import pycrfsuite

from benchmarks.peers.crfsuite.features import TEMPLATES, TOKEN, Template
from benchmarks.peers.protocol import serve


def runner(template: Template, tagger: Any, task: str) -> Callable[[list[str]], Iterator[Any]]:
    """What is measured: texts to the tags, or the spans, of each."""
    find = TOKEN.findall
    tag = tagger.tag

    def tags(texts: list[str]) -> Iterator[list[str]]:
        for text in texts:
            yield tag(template(find(text)))

    def spans(texts: list[str]) -> Iterator[list[tuple[str, int, int]]]:
        for text in texts:
            yield _spans(text, tag(template(find(text))))

    return spans if task == "ner" else tags


def _spans(text: str, tags: list[str]) -> list[tuple[str, int, int]]:
    """Spans with their place in the text; a sentence without names is not looked at again."""
    if tags.count("O") == len(tags):
        return []
    spans: list[tuple[str, int, int]] = []
    places = islice(TOKEN.finditer(text), len(tags))
    label = ""
    for tag, place in zip(tags, places, strict=True):
        if tag == "O":
            label = ""
        elif tag == f"I-{label}":
            spans[-1] = label, spans[-1][1], place.end()
        else:
            label = tag[2:]
            spans.append((label, place.start(), place.end()))
    return spans


if __name__ == "__main__":
    template_name, task_name, model_file, texts_file = sys.argv[1:]
    loaded = pycrfsuite.Tagger()
    loaded.open(model_file)
    run = runner(TEMPLATES[template_name](), loaded, task_name)
    serve(run, texts_file, {"python-crfsuite": version("python-crfsuite")})
