"""Trains NLTK's tagger with its own `train`, since its model is in no registry: ``DATA MODEL``."""

import json
import random
import sys
from pathlib import Path

from nltk.tag.perceptron import PerceptronTagger


def train(training_file: str, model_file: str) -> None:
    """Train on pairs of words and tags, and write the model."""
    sentences = json.loads(Path(training_file).read_text(encoding="utf-8"))
    random.seed(0)  # it shuffles
    tagger = PerceptronTagger(load=False)
    tagger.train([list(zip(words, tags, strict=True)) for words, tags in sentences])
    Path(model_file).write_text(json.dumps(tagger.encode_json_obj()), encoding="utf-8")


if __name__ == "__main__":
    train(*sys.argv[1:])
