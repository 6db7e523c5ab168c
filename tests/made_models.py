"""Models that the tests make for themselves: HMMs of a few words."""

from pathlib import Path
from typing import Any

from service.store.directory import write_model
from service.store.manifest import Manifest
from service.text import tokenizer
from service.training.tables import tabulate

NER_TABLES = {
    "tags": ["O", "B-LOC", "B-PER", "I-PER"],
    "start": [0.8, 0.1, 0.1, 0],
    "transitions": {
        "O": [0.8, 0.1, 0.1, 0],
        "B-LOC": [0.8, 0.1, 0.1, 0],
        "B-PER": [0.5, 0.1, 0.1, 0.3],
        "I-PER": [0.7, 0.1, 0.1, 0.1],
    },
    "emissions": {
        "Jane": {"B-PER": 0.1},
        "Novak": {"I-PER": 0.1, "B-PER": 0.01},
        "Paris": {"B-LOC": 0.1},
    },
    "unknown": 0.001,
}
PTB_TABLES = {
    "tags": ["NN", "DT"],
    "start": [0.9, 0.1],
    "transitions": {"NN": [0.9, 0.1], "DT": [0.9, 0.1]},
    "emissions": {"the": {"DT": 0.5}},
    "unknown": 0.001,
}
UD_TABLES = {
    "tags": ["NOUN", "DET"],
    "start": [0.9, 0.1],
    "transitions": {"NOUN": [0.9, 0.1], "DET": [0.9, 0.1]},
    "emissions": {"the": {"DET": 0.5}},
    "unknown": 0.001,
}


def write_hmm(
    folder: Path,
    name: str,
    tables: dict[str, Any],
    tagset: str | None = None,
    *,
    default: bool = False,
    scores: tuple[dict[str, Any], ...] = (),
) -> Path:
    """Write the model directory of an HMM, of entities where it has no tagset."""
    parameters = tabulate(tables)
    manifest = Manifest.model_validate(
        {
            "format": 1,
            "name": name,
            "version": "1.0.0",
            "description": f"{name}, made by a test",
            "language": "en",
            "task": "tag" if tagset else "ner",
            "tagset": tagset,
            "architecture": "hmm",
            "labels": parameters.labels,
            "tokenizer": tokenizer.VERSION,
            "default": default,
            "licence": "",
            "sources": (),
            "scores": scores,
            "files": {},
        }
    )
    write_model(folder / name, manifest, parameters, "")
    return folder / name


def write_models(folder: Path) -> None:
    """Write a default for each task and tagset, and one more for entities."""
    score = {"data": "Made", "split": "test", "metric": "entity_f1", "scheme": "", "value": 0.5}
    write_hmm(folder, "en-ner-made", NER_TABLES, default=True, scores=(score,))
    write_hmm(folder, "en-ner-other", NER_TABLES)
    write_hmm(folder, "en-pos-made", PTB_TABLES, "ptb")
    write_hmm(folder, "en-upos-made", UD_TABLES, "ud")
