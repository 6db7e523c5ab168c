"""The model card: what a model is, what it was made from, and how good it was found to be."""

from collections.abc import Sequence

from service.store.manifest import Manifest, Perplexity, Score, Source
from service.training.calibration import CALIBRATION_ERRORS

_METRICS = {
    "accuracy": "accuracy of tags",
    "entity_f1": "F1 of entities",
    "word_f1": "F1 of words",
    "sentence_f1": "F1 of sentences",
    "tagged_word_f1": "F1 of words with their tags",
    "token_ece": "calibration error of tags",
    "span_ece": "calibration error of entities",
}

_BY_PYTORCH = (".venv-train", " under the same PyTorch on the same kind of processor")
_TRAINED_IN = {"bilstm-crf": _BY_PYTORCH, "elmo": _BY_PYTORCH}
"""Architectures that need an environment of their own: which, and what their bytes depend on."""


def model_card(manifest: Manifest) -> str:
    """The card of a model as Markdown; all in it stands in the manifest."""
    tagset = f", tagset {manifest.tagset}" if manifest.tagset else ""
    data = " --data DATA" if manifest.sources else ""
    environment, under = _TRAINED_IN.get(manifest.architecture, (".venv-dev", ""))
    lines = [
        f"# {manifest.name} {manifest.version}",
        "",
        manifest.description,
        "",
        f"- Task: `/{manifest.task}`{tagset}; language {manifest.language}; "
        f"architecture {manifest.architecture}; tokenizer {manifest.tokenizer}",
        f"- {len(manifest.labels)} labels: {' '.join(f'`{label}`' for label in manifest.labels)}",
        f"- Licence of the model: {manifest.licence}",
        f"- Probabilities at the temperature {manifest.temperature:g}",
        "",
        *_sources(manifest),
        *_language_model(manifest),
        *_scores(manifest),
        "## Made again by",
        "",
        "```sh",
        f"{environment}/bin/trellis train models/{manifest.name}/recipe.toml{data}",
        "```",
        "",
        f"The same recipe, data and code give the same bytes{under}."
        + (" `DATA` is the folder with the files that the recipe names." if data else ""),
    ]
    return "\n".join(lines) + "\n"


def _sources(manifest: Manifest) -> list[str]:
    if not manifest.sources:
        return []
    return [
        "## Trained on",
        "",
        *source_table(manifest.sources),
        "",
        "Training sentences that stand in a dev or test file of the recipe are left out.",
        "",
    ]


def source_table(sources: Sequence[Source]) -> list[str]:
    """Data sets as lines of Markdown."""
    rows = []
    for source in sources:
        name = f"[{source.name}]({source.url})" if source.url else source.name
        rows.append(f"| {name} | {source.licence} | {', '.join(source.files)} |")
    return ["| data | licence | files |", "| --- | --- | --- |", *rows]


def perplexity_table(perplexities: Sequence[Perplexity]) -> list[str]:
    """The curve of a language model's perplexity as lines of Markdown."""
    return [
        "On sentences that were held out, each read on its own; of a rare word only its kind of",
        "case is foretold.",
        "",
        "| words read | forward | backward |",
        "| ---: | ---: | ---: |",
        *(f"| {p.words:,} | {p.forward:.1f} | {p.backward:.1f} |" for p in perplexities),
    ]


def _language_model(manifest: Manifest) -> list[str]:
    model = manifest.language_model
    if model is None:
        return []
    weights = ", ".join(f"{weight:.3f}" for weight in model.layer_weights)
    return [
        "## Language model",
        "",
        f"{model.description} It stays as it was pretrained (version {model.version}). Its layers, "
        f"from what its LSTMs read to the last of them, have the weights {weights} in the mix that "
        f"the tagger reads; the mix is scaled by {model.layer_scale:.3f}.",
        "",
        *perplexity_table(model.perplexities),
        "",
    ]


def _scores(manifest: Manifest) -> list[str]:
    if not manifest.scores:
        return []
    from_text = any(score.scheme.startswith("raw text") for score in manifest.scores)
    evaluate = f".venv-dev/bin/trellis evaluate models/{manifest.name} --data DATA"
    return [
        "## Measured",
        "",
        "| data | split | measure | figure |",
        "| --- | --- | --- | --- |",
        *map(_row, manifest.scores),
        "",
        "Dev sets were tuned on; test sets were measured once."
        if any(score.split == "test" for score in manifest.scores)
        else "Dev sets were tuned on.",
        *_of_calibration_errors(manifest),
        "",
        "```sh",
        evaluate,
        *([f"{evaluate} --raw"] if from_text else []),
        "```",
        "",
    ]


def _of_calibration_errors(manifest: Manifest) -> list[str]:
    if not any(score.metric in CALIBRATION_ERRORS for score in manifest.scores):
        return []
    return ["Of a calibration error the least is best; the temperature was fit on dev."]


def _row(score: Score) -> str:
    measure = f"{_METRICS[score.metric]}; {score.scheme}"
    figure = "not defined" if score.value is None else f"{100 * score.value:.2f}"
    return f"| {score.data} | {score.split} | {measure} | {figure} |"
