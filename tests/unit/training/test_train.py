"""From corpora and a recipe to a model directory, on data that the tests make."""

import numpy as np
import pytest
from pydantic import ValidationError

from service.config import Settings
from service.errors import CorpusError, RecipeError
from service.store.directory import read_parameters
from service.store.registry import load_model
from service.text.conll import TaggedSentence
from service.training.calibration import Calibration
from service.training.evaluation import Evaluator
from service.training.recipe import Recipe
from service.training.train import train, training_sentences
from tests.made_corpora import ner_sentences, tag_sentences, write_columns, write_conllu

CORPUS = {"name": "Made", "licence": "none", "url": "https://example.org/"}
OPTIONS = {"hmm": {}, "crf": {"l1": 0.05, "l2": 0.05, "max_iterations": 15}}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A data folder with train, dev and test files of both kinds."""
    folder = tmp_path_factory.mktemp("data")
    for seed, split in enumerate(("train", "dev", "test")):
        write_conllu(folder / f"pos/{split}.conllu", tag_sentences(150, seed))
        write_columns(folder / f"ner/{split}.tsv", ner_sentences(150, seed))
    return folder


def recipe(architecture="crf", task="tag", **replaced):
    file = "pos/{}.conllu" if task == "tag" else "ner/{}.tsv"
    corpus = {
        **CORPUS,
        "format": "xpos" if task == "tag" else "columns",
        **{split: [file.format(split)] for split in ("train", "dev", "test")},
    }
    return Recipe.model_validate(
        {
            "name": f"xx-{task}-{architecture}",
            "version": "1.0.0",
            "description": "made by a test",
            "language": "xx",
            "task": task,
            "tagset": "made" if task == "tag" else None,
            "architecture": architecture,
            "licence": "none",
            "options": OPTIONS.get(architecture, {}),
            "corpora": [corpus],
            **replaced,
        }
    )


TEXT = {"name": "A text", "licence": "none", "files": ["text.tsv"], "format": "columns"}
VECTORS = {"name": "", "licence": "", "url": "", "file": "v.json", "grains": [2]}


def run(recipe, data, out, splits=("dev", "test")):
    return train(recipe, data, out, splits, Settings())


@pytest.mark.parametrize("task", ["tag", "ner"])
@pytest.mark.parametrize("architecture", ["hmm", "crf"])
def test_a_trained_model_is_served_with_the_scores_of_its_manifest(
    architecture, task, data, tmp_path
):
    made = recipe(architecture, task)
    out = tmp_path / made.name
    manifest = run(made, data, out)
    loaded = load_model(out, 100)
    assert loaded.manifest == manifest
    evaluator = Evaluator(loaded.tagger, task, 10_000)
    again = [
        *evaluator.corpora(made.corpora, data, ("dev", "test")),
        *evaluator.raw_texts(made.corpora, data, ("dev", "test")),
    ]
    calibration = Calibration(loaded.tagger, task, 10_000, manifest.temperature)
    errors = calibration.corpora(made.corpora, data, ("dev", "test"))
    assert list(manifest.scores) == [figure.score for figure in (*again, *errors)]
    card = (out / "README.md").read_text()
    for score in manifest.scores:
        if score.metric in ("accuracy", "entity_f1") and score.scheme.startswith("gold words"):
            assert "cased" in score.scheme or score.value > 0.7
        if score.metric == "token_ece":
            assert score.value < 0.1
        assert f"{score.scheme} | {100 * score.value:.2f} |" in card
    assert manifest.sources[0].files == (made.corpora[0].train[0],)


@pytest.mark.parametrize("architecture", ["hmm", "crf"])
def test_training_twice_gives_the_same_bytes(architecture, data, tmp_path):
    outs = [tmp_path / side / f"xx-ner-{architecture}" for side in ("once", "twice")]
    for out in outs:
        run(recipe(architecture, "ner"), data, out)
    once, twice = ({p.name: p.read_bytes() for p in out.iterdir()} for out in outs)
    assert once == twice


def test_while_tuning_the_test_files_are_not_measured(data, tmp_path):
    manifest = run(recipe("hmm"), data, tmp_path / "xx-tag-hmm", splits=("dev",))
    assert {score.split for score in manifest.scores} == {"dev"}


def test_sentences_of_dev_and_test_files_are_left_out_of_the_training(data):
    made = recipe()
    kept = {sentence.words for sentence in training_sentences(made, data)}
    for split in ("dev", "test"):
        assert not kept & {sentence.words for sentence in made.corpora[0].read(data, split)}
    assert kept < {sentence.words for sentence in made.corpora[0].read(data, "train")}


def test_ill_formed_training_tags_are_repaired(tmp_path):
    (tmp_path / "train.tsv").write_text("Jane\tI-PER\nran\tO\n\nBob\tI-PER\nLee\tI-PER\n")
    made = recipe("hmm", "ner", corpora=[{**CORPUS, "format": "columns", "train": ["train.tsv"]}])
    assert [s.tags for s in training_sentences(made, tmp_path)] == [
        ("B-PER", "O"),
        ("B-PER", "I-PER"),
    ]


@pytest.mark.parametrize(
    ("replaced", "reason"),
    [
        ({"architecture": "oracle"}, "unknown architecture oracle; known: hmm, crf"),
        ({"options": {"l1": -1}}, "options: l1"),
        ({"options": {**OPTIONS["crf"], "magic": 1}}, "options: magic"),
        ({"architecture": "hmm", "options": {}, "vectors": VECTORS}, "uses no vectors"),
        ({"vectors": {**VECTORS, "grains": []}}, "vectors: a CRF needs grains"),
        ({"texts": [TEXT]}, "texts: a CRF has one teacher"),
        ({"teachers": ["xx-tag-hmm"]}, "texts: a CRF has one teacher"),
        ({"architecture": "hmm", "options": {}, "texts": [TEXT]}, "uses no texts"),
    ],
)
def test_a_recipe_that_cannot_be_followed_writes_nothing(replaced, reason, data, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(RecipeError, match=reason):
        run(recipe(**replaced), data, out)
    assert not out.exists()


def test_a_crf_knows_which_tags_words_bear_in_text_that_its_teacher_has_tagged(data, tmp_path):
    run(recipe("hmm"), data, data / "xx-tag-hmm", splits=())
    write_columns(data / "text.tsv", tag_sentences(500, seed=7))
    out = tmp_path / "xx-tag-crf"
    manifest = run(recipe(teachers=["xx-tag-hmm"], texts=[TEXT]), data, out, splits=("dev",))
    assert [source.name for source in manifest.sources] == ["Made", "A text"]
    given = read_parameters(out, manifest).vocabularies
    assert {"the", "a"} <= set(given["ambiguity_words"])
    assert {"DT!", "NN!"} <= set(given["ambiguity_classes"])
    fired = load_model(out, 100).tagger.fired_features(["the"], np.array([0, 1]))[0]
    assert "0:tags=DT!" in {feature.name for feature in fired}


def test_a_crf_is_trained_on_sentences_that_its_teacher_has_tagged_but_not_on_dev(data, tmp_path):
    run(recipe("hmm"), data, data / "xx-tag-hmm", splits=())
    known, held_out = (
        TaggedSentence(("the", word, "."), ("DT", "NN", ".")) for word in ("newtion", "secrettion")
    )
    write_columns(data / "text.tsv", tag_sentences(5))
    write_columns(data / "silver.tsv", [known, held_out])
    write_conllu(data / "pos/held-out.conllu", [held_out])
    corpus = recipe().corpora[0].model_copy(update={"dev": ("pos/held-out.conllu",)})
    texts = [{**TEXT, "files": ["text.tsv"]}, {**TEXT, "files": ["silver.tsv"], "every": 1}]
    asked = recipe(
        corpora=[corpus], teachers=["xx-tag-hmm"], texts=texts, options={**OPTIONS["crf"], "l1": 0}
    )
    out = tmp_path / "xx-tag-crf"
    manifest = run(asked, data, out, splits=())
    names = read_parameters(out, manifest).vocabularies["attributes"]
    assert "word=newtion" in names
    assert "word=secrettion" not in names
    assert {file for source in manifest.sources for file in source.files} >= {"silver.tsv"}


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_tags_that_are_not_bio_are_refused_before_the_training(split, data, tmp_path):
    corpus = {"train": ["ner/train.tsv"], split: ["ner/no-bio.tsv"], **CORPUS, "format": "columns"}
    write_columns(data / "ner/no-bio.tsv", tag_sentences(3))
    with pytest.raises(CorpusError, match=f"{split}: .* is no BIO tag"):
        run(recipe("hmm", "ner", corpora=[corpus]), data, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("field", "value"), [("version", "1.0"), ("language", "Klingon"), ("tagset", "my tags")]
)
def test_what_a_manifest_could_not_say_a_recipe_cannot_either(field, value):
    with pytest.raises(ValidationError, match=field):
        recipe(**{field: value})


def test_the_card_says_what_was_done_and_no_more(data, tmp_path):
    out = tmp_path / "xx-ner-hmm"
    run(recipe("hmm", "ner"), data, out, splits=("dev",))
    card = (out / "README.md").read_text()
    assert "Dev sets were tuned on." in card
    assert "measured once" not in card
    assert "--raw" not in card  # two columns have no text


def test_a_missing_corpus_file_is_named_and_nothing_is_written(data, tmp_path):
    corpus = {**CORPUS, "format": "columns", "train": ["ner/nowhere.tsv"]}
    with pytest.raises(CorpusError, match=r"nowhere\.tsv"):
        run(recipe("hmm", "ner", corpora=[corpus]), data, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_training_data_that_other_files_hold_whole_leave_nothing_to_train_on(data):
    corpus = {
        **CORPUS,
        "format": "columns",
        "train": ["ner/dev.tsv"],
        "dev": ["ner/dev.tsv"],
    }
    with pytest.raises(RecipeError, match="no training sentence is left"):
        training_sentences(recipe("hmm", "ner", corpora=[corpus]), data)
