"""Who takes part. A model or a peer is a row here."""

import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.environments import CACHE, PEERS, node_modules_of, python_of, trained
from benchmarks.programs import Command, Entrant

INPUT = CACHE / "input"
TEXTS = INPUT / "texts.json"

MODELS = {
    "en-ner-crf": "ner",
    "en-ner-elmo": "ner",
    "en-ner-char-bilstm-crf": "ner",
    "en-ner-bilstm-crf": "ner",
    "en-pos-crf": "pos",
    "en-pos-char-bilstm-crf": "pos",
    "en-upos-crf": "pos",
    "en-pos-hmm": "pos",
}

CRFS = ("en-ner-crf", "en-pos-crf")
NEURAL = "en-ner-char-bilstm-crf"
NEURAL_BY_32 = f"{NEURAL}, 32 sentences at a time"
PYTORCH = f"the network of {NEURAL} in PyTorch"
CRF_TUNED = "python-crfsuite tuned"
CRF_TUTORIAL = "python-crfsuite tutorial"
SPACY_NER = "spaCy NER"
SPACY_TAGGER = "spaCy tagger"
NLTK = "NLTK perceptron"
WINK = "wink-nlp POS"


def entrants(with_peers: bool) -> list[Entrant]:
    """The models of Trellis and, if asked for, the peers."""
    models = [Entrant(name, task, _model(name)) for name, task in MODELS.items()]
    return models + PEER_ENTRANTS if with_peers else models


def _model(name: str, *options: str) -> Callable[[], Command]:
    return lambda: Command([sys.executable, "-m", "benchmarks.trellis", name, TEXTS, *options])


def _crfsuite(template: str, task: str) -> Callable[[], Command]:
    def command() -> Command:
        python, package = python_of("crfsuite"), "benchmarks.peers.crfsuite"
        model = trained(python, f"{package}.train", [template], _training(task))
        return Command([python, "-m", f"{package}.program", template, task, model, TEXTS])

    return command


def _nltk() -> Command:
    python, package = python_of("nltk"), "benchmarks.peers.nltk"
    model = trained(python, f"{package}.train", [], _training("pos"))
    return Command([python, "-m", f"{package}.program", model, TEXTS])


def _spacy(task: str) -> Callable[[], Command]:
    return lambda: Command(
        [python_of("spacy"), "-m", "benchmarks.peers.spacy.program", task, TEXTS]
    )


def _pytorch() -> Command:
    return Command([python_of("pytorch"), "-m", "benchmarks.peers.pytorch.program", NEURAL, TEXTS])


def _wink() -> Command:
    modules = node_modules_of("wink")
    return Command(["node", PEERS / "wink" / "program.js", TEXTS], {"NODE_PATH": str(modules)})


def _training(task: str) -> Path:
    return INPUT / f"train-{task}.json"


PEER_ENTRANTS = [
    Entrant(NEURAL_BY_32, "ner", _model(NEURAL, "32")),
    Entrant(PYTORCH, "ner", _pytorch),
    Entrant(CRF_TUNED, "ner", _crfsuite("tuned", "ner")),
    Entrant(CRF_TUTORIAL, "ner", _crfsuite("tutorial", "ner")),
    Entrant(SPACY_NER, "ner", _spacy("ner")),
    Entrant(CRF_TUNED, "pos", _crfsuite("tuned", "pos")),
    Entrant(CRF_TUTORIAL, "pos", _crfsuite("tutorial", "pos")),
    Entrant(SPACY_TAGGER, "pos", _spacy("tagger")),
    Entrant(NLTK, "pos", _nltk),
    Entrant(WINK, "pos", _wink),
]
