import re
from pathlib import Path

import pytest

from service.errors import RecipeError
from service.training.pretraining_recipe import read_language_model_recipe
from service.training.recipe import read_recipe

MODELS = Path(__file__).parents[3] / "models"
MINIMAL = """
name = "xx-pos-made"
version = "1.0.0"
description = ""
language = "xx"
task = "tag"
tagset = "made"
architecture = "hmm"
licence = ""
"""
CORPUS = """
[[corpora]]
name = "Made"
licence = ""
url = ""
format = "xpos"
train = ["train.conllu"]
"""


@pytest.fixture
def read(tmp_path):
    def read(content):
        path = tmp_path / "recipe.toml"
        path.write_text(content)
        return read_recipe(path)

    return read


@pytest.mark.parametrize(
    "path",
    sorted([*MODELS.glob("*/recipe.toml"), *MODELS.glob("*/teacher.toml")]),
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_every_shipped_recipe_is_one_of_its_directory(path):
    assert read_recipe(path).name == path.parent.name


@pytest.mark.parametrize("path", sorted(MODELS.glob("*/language_model.toml")), ids=str)
def test_every_shipped_recipe_of_a_language_model_is_one(path):
    assert read_language_model_recipe(path).texts


def test_every_shipped_model_has_a_recipe():
    shipped = {path.parent for path in MODELS.glob("*/manifest.json")}
    assert shipped
    assert shipped <= {path.parent for path in MODELS.glob("*/recipe.toml")}


def test_the_least_recipe_of_the_documentation_is_one(read):
    [least] = re.findall(r"```toml\n(.*?)```", (MODELS / "README.md").read_text(), re.DOTALL)
    assert read(least).name == "de-ner-mine"


def test_a_recipe_with_a_corpus_is_read(read):
    assert read(MINIMAL + CORPUS).corpora[0].train == ("train.conllu",)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("name =", "recipe.toml: "),
        (MINIMAL, "needs corpora with train files, or tables"),
        (MINIMAL + CORPUS + "[tables]\n", "and not both"),
        (MINIMAL.replace("xx-pos-made", "Made") + CORPUS, "name: "),
        (MINIMAL.replace('tagset = "made"', "") + CORPUS, "a tagset belongs to the task tag"),
        (MINIMAL.replace("version", "versoin") + CORPUS, "versoin|version"),
        (MINIMAL + CORPUS.replace('"xpos"', '"ptb"'), "corpora.0.format: "),
    ],
)
def test_a_recipe_that_is_wrong_says_where(read, content, reason):
    with pytest.raises(RecipeError, match=reason):
        read(content)


def test_a_missing_recipe_is_named(tmp_path):
    with pytest.raises(RecipeError, match="nowhere"):
        read_recipe(tmp_path / "nowhere")
