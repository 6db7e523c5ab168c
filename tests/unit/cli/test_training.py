"""`trellis train`, `pretrain`, `calibrate` and `evaluate`, as a user types them."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import service.training
from service.cli import main
from tests.made_corpora import ner_sentences, write_columns

MODELS = Path(__file__).parents[3] / "models"

RECIPE = """
name = "xx-ner-made"
version = "1.0.0"
description = "made by a test"
language = "xx"
task = "ner"
architecture = "hmm"
licence = "none"

[[corpora]]
name = "Made"
licence = "none"
url = "https://example.org/"
format = "columns"
train = ["train.tsv"]
dev = ["dev.tsv"]
test = ["test.tsv"]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A data folder, and a recipe in the directory of its model."""
    folder = tmp_path_factory.mktemp("cli")
    for seed, split in enumerate(("train", "dev", "test")):
        write_columns(folder / f"data/{split}.tsv", ner_sentences(100, seed))
    (folder / "xx-ner-made").mkdir()
    (folder / "xx-ner-made" / "recipe.toml").write_text(RECIPE)
    return folder


def trellis(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def model(folder):
    result = trellis("train", folder / "xx-ner-made/recipe.toml", "--data", folder / "data")
    assert result.exit_code == 0, result.output
    return folder / "xx-ner-made"


def test_train_writes_the_model_beside_its_recipe_and_says_how_good_it_is(folder):
    result = trellis("train", folder / "xx-ner-made/recipe.toml", "--data", folder / "data")
    assert result.exit_code == 0
    assert "Made dev: entity_f1 " in result.stdout
    assert "Made test: entity_f1 " in result.stdout
    assert (folder / "xx-ner-made/manifest.json").exists()


def test_train_for_tuning_leaves_the_test_files_alone(folder, tmp_path):
    out = tmp_path / "xx-ner-made"
    recipe = folder / "xx-ner-made/recipe.toml"
    result = trellis("train", recipe, "--data", folder / "data", "--out", out, "--dev-only")
    assert result.exit_code == 0
    assert "Made test" not in result.stdout
    assert (out / "manifest.json").exists()


def test_evaluate_measures_on_the_files_of_the_recipe(model, folder):
    result = trellis("evaluate", model, "--data", folder / "data")
    assert result.exit_code == 0
    assert "Made dev: entity_f1 " in result.stdout
    assert "strict IOB2" in result.stdout


def test_evaluate_for_tuning_leaves_the_test_files_alone(model, folder):
    result = trellis("evaluate", model, "--data", folder / "data", "--dev-only")
    assert "Made dev: entity_f1 " in result.stdout
    assert "Made test" not in result.stdout


def test_evaluate_says_how_reliable_the_probabilities_are_and_draws_it(model, folder, tmp_path):
    drawing = tmp_path / "reliability.svg"
    result = trellis("evaluate", model, "--data", folder / "data", "--reliability", drawing)
    assert result.exit_code == 0
    for split in ("dev", "test"):
        for metric in ("token_ece", "span_ece"):
            assert f"Made {split}: {metric} " in result.stdout
        assert f"{split}, entities: ECE " in drawing.read_text()


def test_calibrate_writes_what_train_writes(model, folder):
    trained = {path.name: path.read_bytes() for path in model.iterdir()}
    result = trellis("calibrate", model, "--data", folder / "data")
    assert result.exit_code == 0
    manifest = json.loads(trained["manifest.json"])
    assert f"temperature {manifest['temperature']:g}" in result.stdout
    assert "Made test: span_ece " in result.stdout
    assert "entity_f1" not in result.stdout
    assert {path.name: path.read_bytes() for path in model.iterdir()} == trained


def test_calibrate_gives_a_temperature_to_a_model_that_has_none(model, folder, tmp_path):
    bare = tmp_path / model.name
    shutil.copytree(model, bare)
    manifest = json.loads((bare / "manifest.json").read_text())
    del manifest["temperature"]
    manifest["scores"] = [s for s in manifest["scores"] if not s["metric"].endswith("_ece")]
    (bare / "manifest.json").write_text(json.dumps(manifest))
    assert trellis("calibrate", bare, "--data", folder / "data").exit_code == 0
    for name in ("manifest.json", "README.md"):
        assert (bare / name).read_bytes() == (model / name).read_bytes()


def test_evaluate_says_where_a_file_has_other_tags_than_the_model(tmp_path):
    names = tmp_path / "names.tsv"
    names.write_text("Jane\tB-PER\nran\tO\n", encoding="utf-8")
    result = trellis("evaluate", MODELS / "en-pos-janet", "--file", names)
    assert result.exit_code == 1
    assert "names.tsv, test: none of its tags (B-PER, O ...) is one of the model's" in result.output


def test_evaluate_measures_on_any_file(model, folder):
    result = trellis("evaluate", model, "--file", folder / "data/test.tsv")
    assert result.exit_code == 0
    assert "test.tsv test: entity_f1 " in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train"], "Missing argument 'RECIPE'"),
        (["train", "{recipe}"], "say with --data"),
        (["train", "{recipe}", "--data", "nowhere"], "nowhere"),
        (["train", "{recipe}", "--data", "{data}", "--out", "other"], "named xx-ner-made"),
        (["train", "{recipe}", "--data", "{model}"], "train.tsv: No such file"),
        (["pretrain", "{recipe}", "--data", "{data}"], "Missing option '--out'"),
        (["pretrain", "{recipe}", "--data", "{data}", "--out", "x"], "recipe.toml: options: "),
        (["evaluate", "{model}"], "either --data or --file"),
        (
            ["evaluate", "{model}", "--data", "{data}", "--raw", "--reliability", "r.svg"],
            "leave --raw out",
        ),
        (["calibrate", "{model}"], "Missing option '--data'"),
        (["evaluate", "{data}", "--file", "{data}/dev.tsv"], "manifest.json: no such file"),
        (["evaluate", "{model}", "--file", "{recipe}"], "expected a word and a tag"),
        (["evaluate", "{model}", "--file", "{data}/dev.tsv", "--dev-only"], "leave --dev-only out"),
        (["evaluate", "{model}", "--data", "{data}", "--format", "upos"], "--format is of --file"),
        (["evaluate", "{model}", "--file", "{data}/dev.tsv", "--raw"], "columns have no raw text"),
        (["evaluate", "{model}", "--data", "{data}", "--raw"], "it lacks a file with raw text"),
        (["evaluate", "{model}", "--file", "/dev/null"], "/dev/null: nothing to measure on"),
    ],
)
def test_a_wrong_use_is_told_in_one_clear_message(arguments, said, model, folder):
    places = {
        "recipe": folder / "xx-ner-made/recipe.toml",
        "data": folder / "data",
        "model": model,
    }
    result = trellis(*(argument.format(**places) for argument in arguments))
    assert result.exit_code != 0
    assert said in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "{recipe}", "--data", "{data}", "--out", "{recipe}/xx-ner-made"],
        ["train", "{recipe}", "--data", "{data}", "--checkpoint", "nowhere/state"],
        ["pretrain", "{recipe}", "--data", "{data}", "--out", "{recipe}/lm"],
        ["pretrain", "{recipe}", "--data", "{data}", "--out", "x", "--checkpoint", "{recipe}/x"],
        ["evaluate", "{model}", "--data", "{data}", "--reliability", "nowhere/drawing.svg"],
    ],
)
def test_a_place_that_cannot_be_written_is_told_before_the_work(arguments, model, folder):
    places = {"recipe": model / "recipe.toml", "data": folder / "data", "model": model}
    result = trellis(*(argument.format(**places) for argument in arguments))
    assert result.exit_code == 2
    assert f"Invalid value for '{arguments[-2]}': there is no folder " in result.stderr
    assert result.stdout == ""


def test_training_without_its_extra_says_what_is_missing(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)
    for module in ("train", "crf"):
        monkeypatch.delitem(sys.modules, f"service.training.{module}", raising=False)
        monkeypatch.delattr(service.training, module, raising=False)
    result = trellis("train", folder / "xx-ner-made/recipe.toml", "--data", folder / "data")
    assert result.exit_code == 1
    assert "make dev" in result.stderr


LANGUAGE_MODEL = """
version = "1.0.0"
description = "made by a test"
language = "xx"
licence = "none"
options = {tokens = 1}

[[texts]]
name = "Made"
licence = "none"
files = ["made.txt"]
"""


def test_pretraining_without_its_extra_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for module in ("pretrain", "pretraining", "language_model", "fitting"):
        monkeypatch.delitem(sys.modules, f"service.training.{module}", raising=False)
        monkeypatch.delattr(service.training, module, raising=False)
    (tmp_path / "recipe.toml").write_text(LANGUAGE_MODEL)
    recipe, out = tmp_path / "recipe.toml", tmp_path / "out"
    result = trellis("pretrain", recipe, "--data", tmp_path, "--out", out)
    assert result.exit_code == 1
    assert "make train-env" in result.stderr
    assert not out.exists()
