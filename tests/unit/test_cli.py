"""The command line, as a user types it."""

import sys

import pytest
from click.testing import CliRunner

import service.training
from service.cli import main
from tests.made_corpora import ner_sentences, write_columns

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
        (["evaluate", "{data}", "--file", "{data}/dev.tsv"], "manifest.json: no such file"),
        (["evaluate", "{model}", "--file", "{recipe}"], "expected a word and a tag"),
        (["health", "--url", "http://127.0.0.1:9"], "127.0.0.1"),
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


@pytest.mark.parametrize("command", [[], ["pretrain"], ["train"], ["evaluate"], ["health"]])
def test_every_command_has_help(command):
    result = trellis(*command, "--help")
    assert result.exit_code == 0
    assert "Usage:" in result.stdout
