"""What is measured of the models that ship: their manifests' scores, and RESULTS.md's speeds."""

import re
from dataclasses import dataclass

from documentation.pages import ROOT
from service.cli.models import size_bytes
from service.store.manifest import Manifest
from service.store.registry import read_manifests

RESULTS = ROOT / "benchmarks" / "RESULTS.md"
_TABLE = re.compile(r"^\| `sentences`, tokens per \|.*\n(?:\|.*\n)+", re.MULTILINE)
_ROW = re.compile(r"^\| (en-[\w-]+) \(\w+\) \| ([\d,]+) \|", re.MULTILINE)
_MAIN = {"ner": "entity_f1", "tag": "accuracy"}
_GOLD, _RAW = "gold words", "raw text"


@dataclass(frozen=True)
class Model:
    """A model and its figures, of test sets, in percent.

    Attributes
    ----------
    scores : by data set, on gold words as they are: F1 of entities, or accuracy of tags.
    lower, upper, raw : the same of the first data set, in other case and from raw text.
    tokens_per_cpu_s : text to tags or spans, in batches; None where it was not measured.
    """

    manifest: Manifest
    scores: dict[str, float]
    lower: float
    upper: float
    raw: float
    tokens_per_cpu_s: int | None

    @property
    def name(self) -> str:
        return self.manifest.name

    @property
    def main_score(self) -> float:
        """The score on the first data set."""
        return next(iter(self.scores.values()))

    @property
    def size_mb(self) -> float:
        """The size of its directory, as `trellis models` has it, in millions of bytes."""
        return size_bytes(ROOT / "models" / self.name) / 1e6


def measured_models(task: str) -> list[Model]:
    """The models of a task that have scores, the fastest first."""
    speeds = measured_speeds(RESULTS.read_text(encoding="utf-8"))
    models = [
        _model(manifest, speeds.get(manifest.name))
        for manifest in read_manifests(ROOT / "models").values()
        if manifest.task == task and manifest.scores
    ]
    return sorted(models, key=lambda model: -(model.tokens_per_cpu_s or 0))


def measured_speeds(results: str) -> dict[str, int]:
    """Tokens per CPU second of each model, from the report of the benchmark."""
    [table] = _TABLE.findall(results)
    return {name: int(number.replace(",", "")) for name, number in _ROW.findall(table)}


def _model(manifest: Manifest, tokens_per_cpu_s: int | None) -> Model:
    metric = _MAIN[manifest.task]
    found: dict[tuple[str, str], float] = {}
    for score in manifest.scores:
        words, _, rest = score.scheme.partition(", ")
        case = next((c for c in ("lower", "upper") if rest.startswith(f"{c}-cased")), "")
        wanted = score.metric == metric or (words == _RAW and score.metric == "tagged_word_f1")
        if score.split == "test" and wanted and score.value is not None:
            found[(score.data, case or words)] = 100 * score.value
    scores = {data: value for (data, scheme), value in found.items() if scheme == _GOLD}
    first = next(iter(scores))
    lower, upper, raw = (found[(first, scheme)] for scheme in ("lower", "upper", _RAW))
    return Model(manifest, scores, lower, upper, raw, tokens_per_cpu_s)
