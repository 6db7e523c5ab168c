"""Trains a CRF with python-crfsuite: ``tutorial|tuned TRAINING MODEL``.

Penalties and iterations are those of python-crfsuite's CoNLL 2002 tutorial.
"""

import json
import sys
from pathlib import Path

import pycrfsuite

from benchmarks.peers.crfsuite.features import TEMPLATES

PARAMETERS = {"c1": 1.0, "c2": 1e-3, "max_iterations": 50, "feature.possible_transitions": True}


def train(template_name: str, training_file: str, model_file: str) -> None:
    """Train on pairs of words and tags, and write the model."""
    template = TEMPLATES[template_name]()
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params(PARAMETERS)
    for words, tags in json.loads(Path(training_file).read_text(encoding="utf-8")):
        trainer.append(template(words), tags)
    trainer.train(model_file)


if __name__ == "__main__":
    train(*sys.argv[1:])
