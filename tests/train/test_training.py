"""Training a biLSTM-CRF on small made languages: it learns, it repeats, it goes on."""

import random
import re

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from service.config import Settings
from service.errors import RecipeError
from service.store.directory import constraints_of
from service.store.registry import load_model
from service.taggers import ARCHITECTURES
from service.text.conll import TaggedSentence
from service.training.batches import Batches, Vocabulary
from service.training.evaluation import Evaluator
from service.training.recipe import Recipe
from service.training.train import train as train_model
from service.training.word_vectors import choose_words, initial_vectors
from tests.made_corpora import ner_sentences, tag_sentences, write_columns
from tests.made_networks import FOLDER, read_network
from tests.train.store import NETWORKS, OPTIONS, lstm_states, train


def same_arrays(one, other):
    return one.arrays.keys() == other.arrays.keys() and all(
        np.array_equal(one.arrays[name], other.arrays[name]) for name in one.arrays
    )


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_learns_what_the_stored_one_has_learned(name):
    task, _ = NETWORKS[name]
    made, stored = train(name), read_network(name)
    assert made.labels == stored.labels
    assert made.vocabularies == stored.vocabularies
    assert {n: (a.dtype, a.shape) for n, a in made.arrays.items()} == {
        n: (a.dtype, a.shape) for n, a in stored.arrays.items()
    }
    make = ARCHITECTURES["elmo" if name == "ner-elmo" else "bilstm-crf"]
    tagger = make(made, constraints_of(task, made.labels), 100)
    sentences = {"tag": tag_sentences, "ner": ner_sentences}[task](100, seed=1)
    assert Evaluator(tagger, task, 100).gold_words(sentences, "", "test").value > 0.95


def test_the_stored_states_are_those_of_pytorch():
    found, stored = lstm_states(), load_file(FOLDER / "lstm.safetensors")
    assert found.keys() == stored.keys()
    for name in found:
        np.testing.assert_allclose(found[name], stored[name], rtol=0, atol=1e-6)


def test_training_twice_gives_the_same_weights_and_another_seed_others():
    once, twice = train("ner-characters", epochs=2), train("ner-characters", epochs=2)
    assert same_arrays(once, twice)
    assert not same_arrays(once, train("ner-characters", epochs=2, dropout=0.2))


def test_an_interrupted_training_goes_on_to_the_same_weights(tmp_path, monkeypatch):
    file = tmp_path / "state.pt"
    saved = torch.save

    def save_and_stop(state, path):
        saved(state, path)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(torch, "save", save_and_stop)
        with pytest.raises(KeyboardInterrupt):
            train("ner-characters", file, epochs=3)
    resumed = train("ner-characters", file, epochs=3)
    assert same_arrays(resumed, train("ner-characters", epochs=3))


def test_progress_tells_speed_and_time_left(capsys):
    train("ner-words", epochs=1)
    last = capsys.readouterr().err.splitlines()[-2]
    assert re.fullmatch(r"batch 25/25 loss [\d.]+, \d+ tokens/s  \d+ s gone, .* left", last)


CORPUS = {"name": "Made", "licence": "none", "url": "https://example.org/", "format": "columns"}


def recipe(**replaced):
    return Recipe.model_validate(
        {
            "name": "xx-ner-bilstm",
            "version": "1.0.0",
            "description": "made by a test",
            "language": "xx",
            "task": "ner",
            "architecture": "bilstm-crf",
            "licence": "none",
            "options": {**OPTIONS, "epochs": 2},
            "corpora": [{**CORPUS, "train": ["train.tsv"], "test": ["test.tsv"]}],
            **replaced,
        }
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_columns(folder / "train.tsv", ner_sentences(100))
    write_columns(folder / "test.tsv", ner_sentences(30, seed=1))
    (folder / "vectors.txt").write_text("the 1 0\nmr 0 1\ncorp 1 1\nelsewhere 2 2\n")
    return folder


def test_a_recipe_makes_a_model_that_is_served_with_the_scores_of_its_manifest(data, tmp_path):
    vectors = {"name": "V", "licence": "none", "url": "https://v.example/", "file": "vectors.txt"}
    made, out = recipe(vectors=vectors), tmp_path / "xx-ner-bilstm"
    manifest = train_model(made, data, out, ("test",), Settings())
    loaded = load_model(out, 100)
    assert loaded.manifest == manifest
    assert "elsewhere" in (out / "vector_words.json").read_text()
    measured = Evaluator(loaded.tagger, "ner", 100).corpora(made.corpora, data, ("test",))
    assert [e.value for e in measured] == pytest.approx(
        [score.value for score in manifest.scores if score.metric == "entity_f1"], abs=1e-4
    )
    card = (out / "README.md").read_text()
    assert ".venv-train/bin/trellis train" in card
    assert "V" in [source.name for source in manifest.sources]


def test_a_part_that_the_network_has_no_use_for_is_refused(data, tmp_path):
    names = {"name": "", "licence": "", "url": "", "label": "x", "file": "f", "format": "words"}
    with pytest.raises(RecipeError, match="bilstm-crf uses no gazetteers"):
        train_model(recipe(gazetteers=[names]), data, tmp_path / "out", (), Settings())


SENTENCES = [
    TaggedSentence(("Once", "the", "the"), ("A", "B", "B")),
    TaggedSentence(("the", "42"), ("B", "A")),
]


def test_words_of_the_training_come_first_then_frequent_pretrained_ones():
    known = ["of", "once", "00", "far"]
    assert choose_words(SENTENCES, known, 10, 2) == ["the", "once", "00", "of", "far"]
    assert choose_words(SENTENCES, known, 4, 1) == ["the", "once", "42", "00"]


def test_pretrained_vectors_are_taken_as_they_are():
    vectors = np.array([[1, 2], [3, 4]], dtype=np.float32)
    table = initial_vectors(["b", "new"], ["a", "b"], vectors, 2, np.random.default_rng(0))
    assert table.shape == (3, 2)
    assert table[0].tolist() == [3, 4]
    assert (np.abs(table[1:]) <= np.sqrt(3 / 2)).all()


def batches():
    vocabulary = Vocabulary(["the", "once", "00"], list("theonc"))
    return Batches(SENTENCES, vocabulary, {"A": 0, "B": 1}, 2)


def test_a_batch_holds_every_word_once_and_says_where_it_stands():
    [batch] = batches().in_order()
    assert batch.types.vectors.tolist() == [2, 0, 1]
    assert batch.lengths.tolist() == [3, 2]
    assert batch.words.T.tolist() == [[2, 1, 1], [1, 0, 0]]
    assert batch.tags.T.tolist() == [[0, 1, 1], [1, 0, 0]]
    assert batch.types.character_counts.tolist() == [2, 3, 4]


def test_words_that_came_once_may_be_made_unknown_and_no_others():
    [batch] = batches().shuffled(random.Random(0), unknown_share=1, recased_share=0)
    assert sorted(batch.types.vectors.tolist()) == [0, 3, 3]


def test_sentences_may_come_in_other_case():
    [as_they_are] = batches().shuffled(random.Random(0), unknown_share=0, recased_share=0)
    [recased] = batches().shuffled(random.Random(0), unknown_share=0, recased_share=1)
    assert as_they_are.types.cases.tolist() != recased.types.cases.tolist()
    assert sorted(as_they_are.types.vectors.tolist()) == sorted(set(recased.types.vectors.tolist()))
