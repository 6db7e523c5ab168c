"""Runs NLTK's word tokenizer and its averaged perceptron: ``MODEL TEXTS``."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import nltk
from nltk.tag.perceptron import PerceptronTagger
from nltk.tokenize import NLTKWordTokenizer

from benchmarks.peers.protocol import serve


def main(model_file: str, texts_file: str) -> None:
    """Measure the tagger."""
    model = json.loads(Path(model_file).read_text(encoding="utf-8"))
    tagger = PerceptronTagger.decode_json_obj(model)
    # What `word_tokenize` uses once a text is split into sentences.
    tokenize = NLTKWordTokenizer().tokenize

    def tags(texts: list[str]) -> Iterator[list[object]]:
        for text in texts:
            yield [tag for _, tag in tagger.tag(tokenize(text))]

    serve(tags, texts_file, {"NLTK": nltk.__version__})


if __name__ == "__main__":
    main(*sys.argv[1:])
