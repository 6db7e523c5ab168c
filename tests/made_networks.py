"""Small biLSTM-CRFs that the tests keep: trained once, so that no test but those of training
needs PyTorch. `tests/train/store.py` makes them again."""

import json
from pathlib import Path

from safetensors.numpy import load_file, save_file

from service.taggers import Parameters

LANGUAGE_MODEL_SENTENCES = [
    ["mr", "Bade", "kilo", "."],
    ["."],
    ["BADE", "Corp", "İ", "x" * 100, "42"],
]
"""What the stored language model was read on by PyTorch."""

FOLDER = Path(__file__).parent / "made_networks"


def write_network(name: str, parameters: Parameters) -> None:
    """Write parameters as two files."""
    FOLDER.mkdir(exist_ok=True)
    save_file(dict(parameters.arrays), FOLDER / f"{name}.safetensors")
    words = {"labels": list(parameters.labels), "vocabularies": dict(parameters.vocabularies)}
    text = json.dumps(words, ensure_ascii=True) + "\n"
    (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")


def read_network(name: str) -> Parameters:
    """Read what `write_network` wrote."""
    words = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    arrays = load_file(FOLDER / f"{name}.safetensors")
    return Parameters(tuple(words["labels"]), arrays, words["vocabularies"])
