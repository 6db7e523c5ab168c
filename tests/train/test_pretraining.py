"""Pretraining a language model on a small made language: it learns, it repeats, it goes on."""

import json
import re
from itertools import pairwise

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from service.config import Settings
from service.errors import ModelError, RecipeError
from service.store.registry import load_model
from service.text.spelling import BOUNDARY, CASES
from service.text.tokens import offsets_of
from service.training.batches import Vocabulary
from service.training.evaluation import Evaluator
from service.training.language_model_directory import read_language_model
from service.training.language_model_parameters import language_model_of
from service.training.recipe import Recipe
from service.training.text_corpus import TextCorpus
from service.training.text_stream import Reading, TextStreams, TypeTable, drawn, target_classes
from service.training.train import train
from tests.made_corpora import ner_sentences, write_columns
from tests.made_networks import FOLDER, LANGUAGE_MODEL_SENTENCES, read_network
from tests.train.store import OPTIONS, language_model, pretrain_made, torch_layers


def same(directory, other):
    names = sorted(path.name for path in directory.iterdir())
    return names == sorted(path.name for path in other.iterdir()) and all(
        (directory / name).read_bytes() == (other / name).read_bytes() for name in names
    )


def test_a_language_model_learns_what_the_stored_one_has_learned(tmp_path):
    manifest = pretrain_made(tmp_path, tmp_path / "model")
    first, *_, last = manifest.perplexities
    assert 1 < last.forward < first.forward
    assert 1 < last.backward < first.backward
    made, stored = language_model(), read_network("language-model")
    assert made.vocabularies == stored.vocabularies
    assert {n: (a.dtype, a.shape) for n, a in made.arrays.items()} == {
        n: (a.dtype, a.shape) for n, a in stored.arrays.items()
    }


def test_the_stored_layers_are_those_of_pytorch():
    read = language_model_of(read_network("language-model"))
    stored = load_file(FOLDER / "language-model-layers.safetensors")["layers"]
    found = torch_layers(*read, LANGUAGE_MODEL_SENTENCES)
    np.testing.assert_allclose(found, stored, rtol=0, atol=1e-5)


def test_pretraining_twice_gives_the_same_bytes_and_an_interrupted_one_goes_on_to_them(
    tmp_path, monkeypatch
):
    few = {"tokens": 1500, "measurements": 3}
    pretrain_made(tmp_path, tmp_path / "once", **few)
    pretrain_made(tmp_path, tmp_path / "twice", **few)
    assert same(tmp_path / "once", tmp_path / "twice")
    saved, calls = torch.save, []

    def save_and_stop(state, path):
        saved(state, path)
        calls.append(path)
        if len(calls) == 7:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(torch, "save", save_and_stop)
        patched.setattr("service.training.pretraining._SAVE_EVERY_S", 0)
        with pytest.raises(KeyboardInterrupt):
            pretrain_made(tmp_path, tmp_path / "resumed", tmp_path / "state", **few)
    monkeypatch.setattr("service.training.text_corpus._READ", {})  # nothing is read again
    pretrain_made(tmp_path, tmp_path / "resumed", tmp_path / "state", **few)
    assert same(tmp_path / "once", tmp_path / "resumed")


def test_progress_tells_speed_and_time_left(tmp_path, capsys):
    pretrain_made(tmp_path, tmp_path / "model", tokens=200)
    lines = capsys.readouterr().err.splitlines()
    told = r"segment 4/4 loss [\d.]+, \d+ words/s  \d+ s gone, at most 0 s left"
    assert any(re.fullmatch(told, line) for line in lines)


def test_a_text_that_is_too_short_for_its_streams_is_refused(tmp_path):
    with pytest.raises(RecipeError, match="fewer words than streams times steps"):
        pretrain_made(tmp_path, tmp_path / "model", streams=10_000)


def test_a_directory_with_another_file_than_its_manifest_says_is_refused(tmp_path):
    pretrain_made(tmp_path, tmp_path / "model", tokens=100)
    assert "| 128 |" in (tmp_path / "model/README.md").read_text()
    (tmp_path / "model/vector_words.json").write_text("[]")
    with pytest.raises(ModelError, match=r"vector_words\.json"):
        read_language_model(tmp_path / "model")


SENTENCES = [["the", "Once"], ["a", "the", "the", "42"], ["x"], ["Once", "a"]]


def streams(seed=0, shares=(1.0,), recased_share=0.0, held_out=()):
    types = list(dict.fromkeys([BOUNDARY, *(word for words in SENTENCES for word in words)]))
    ids = [types.index(word) for words in SENTENCES for word in [BOUNDARY, *words]]
    offsets = offsets_of([len(words) + 1 for words in SENTENCES])
    corpus = TextCorpus(types, np.array(ids, np.int32), offsets, np.zeros(4, np.int8))
    table = TypeTable(types, Vocabulary(list(map(str.lower, types)), list("theonc")))
    reading = Reading(shares, recased_share, streams=1, steps=3, seed=seed)
    held = np.array(held_out, dtype=np.int64)
    return TextStreams(corpus, table, np.arange(len(types)), reading, held), types


def spelled(segments, types):
    """The words that each direction reads, and what it is to foretell."""
    words, targets = ([], []), ([], [])
    for segment in segments:
        for way in range(2):
            rows = segment.types.vectors[segment.words[way, :, 0]].tolist()
            words[way].extend(types[row] for row in rows)
            targets[way].extend(types[row] for row in segment.targets[way, :, 0].tolist())
    return words, targets


def sentences_of(words):
    """A stream, cut before its boundaries."""
    bounds = [i for i, word in enumerate(words) if word == BOUNDARY] + [len(words)]
    assert bounds[0] == 0
    return [words[first + 1 : end] for first, end in pairwise(bounds)]


def test_each_direction_reads_each_sentence_once_and_foretells_its_next_word():
    made, types = streams()
    words, targets = spelled(made.segments(0), types)
    for way in range(2):
        assert targets[way][:-1] == words[way][1:]
        *whole, last = sentences_of([*words[way], targets[way][-1]])
        read = [sentence[:: 1 - 2 * way] for sentence in whole]
        assert all(sentence in SENTENCES for sentence in read)
        assert len(whole) == len(SENTENCES) - 1
        assert [*read, last[:: 1 - 2 * way]] != SENTENCES  # in another order
    assert [len(s) for s in sentences_of(words[0])] == [len(s) for s in sentences_of(words[1])]


def test_a_pass_is_its_number_and_seed_alone():
    made, types = streams()
    once, again = (spelled(made.segments(3), types) for _ in range(2))
    assert once == again
    assert once != spelled(made.segments(4), types)
    assert once != spelled(streams(seed=1)[0].segments(3), types)


def test_sentences_that_are_held_out_are_not_read():
    made, types = streams(held_out=[1])
    words, _ = spelled(made.segments(0), types)
    assert "42" not in words[0]


def test_a_share_is_how_often_a_sentence_is_read():
    rng = np.random.default_rng(0)
    found = drawn(np.repeat([2.0, 0.0, 0.25], 1000), rng)
    counts = np.bincount(found, minlength=3000).reshape(3, 1000)
    assert (counts[0] == 2).all()
    assert (counts[1] == 0).all()
    assert 150 < counts[2].sum() < 350


def test_other_case_is_read_but_not_foretold():
    plain, types = streams(shares=(20.0,))
    recased, _ = streams(shares=(20.0,), recased_share=1.0)
    cases = {case for part in recased.segments(0) for case in part.types.cases.tolist()}
    assert CASES.index("title") not in cases  # of Once
    assert {CASES.index("lower"), CASES.index("upper")} <= cases
    assert "Once" in spelled(recased.segments(0), types)[1][0]
    assert CASES.index("title") in {c for p in plain.segments(0) for c in p.types.cases.tolist()}


def test_held_out_sentences_go_from_a_boundary_to_the_next():
    made, types = streams()
    [(segment, real)] = made.sentences(np.array([1, 0]), 2)
    assert real.T.tolist() == [[True] * 3 + [False] * 2, [True] * 5]
    for way, step in enumerate((1, -1)):
        for column, words in enumerate((SENTENCES[0], SENTENCES[1])):
            whole = [BOUNDARY, *words[::step], BOUNDARY]
            here = segment.words[way, :, column][real[:, column]]
            read = [types[row] for row in segment.types.vectors[here].tolist()]
            foretold = segment.targets[way, :, column][real[:, column]].tolist()
            assert read == whole[:-1]
            assert [types[i] for i in foretold] == whole[1:]


def test_of_a_rare_word_the_case_is_foretold():
    types = [BOUNDARY, "the", "Jane", "John", "of"]
    classes, number = target_classes(types, np.array([9.0, 8, 1, 1, 5]), 3)
    assert classes.tolist() == [0, 1, 3, 3, 2]  # the frequent first
    assert number == 3 + len(CASES)


RECIPE = {
    "name": "xx-ner-elmo",
    "version": "1.0.0",
    "description": "made by a test",
    "language": "xx",
    "task": "ner",
    "architecture": "elmo",
    "licence": "none",
    "options": {**OPTIONS, "epochs": 2, "character_hidden": 0},
    "language_model": {"directory": "model"},
}
CORPUS = {"name": "Made", "licence": "none", "url": "https://m.example/", "format": "columns"}


def recipe(**replaced):
    corpora = [{**CORPUS, "train": ["train.tsv"], "dev": ["dev.tsv"]}]
    return Recipe.model_validate({**RECIPE, "corpora": corpora, **replaced})


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_columns(folder / "train.tsv", ner_sentences(100))
    write_columns(folder / "dev.tsv", ner_sentences(30, seed=1))
    pretrain_made(folder, folder / "model")
    return folder


def test_a_recipe_makes_an_elmo_that_is_served_with_the_scores_of_its_manifest(data, tmp_path):
    out = tmp_path / "xx-ner-elmo"
    manifest = train(recipe(), data, out, ("dev",), Settings())
    loaded = load_model(out, 100)
    assert loaded.manifest == manifest
    measured = Evaluator(loaded.tagger, "ner", 100).corpora(recipe().corpora, data, ("dev",))
    assert [e.value for e in measured] == pytest.approx(
        [score.value for score in manifest.scores if score.metric == "entity_f1"], abs=1e-4
    )
    frozen, given = json.loads((out / "lm_vector_words.json").read_text()), language_model()
    assert frozen == given.vocabularies["vector_words"]
    weights = load_file(out / "weights.safetensors")
    for name, array in given.arrays.items():
        assert np.array_equal(weights[f"lm_{name}"], array)
    assert sum(manifest.language_model.layer_weights) == pytest.approx(1, abs=1e-3)
    assert manifest.language_model.layer_weights != (1 / 3,) * 3
    card = (out / "README.md").read_text()
    assert f"{manifest.language_model.layer_scale:.3f}" in card
    assert f"| {manifest.language_model.perplexities[-1].forward:.1f} |" in card


def test_an_elmo_needs_a_language_model_and_others_have_no_use_for_one(data, tmp_path):
    with pytest.raises(RecipeError, match="an elmo needs a language_model"):
        train(recipe(language_model=None), data, tmp_path / "out", (), Settings())
    with pytest.raises(RecipeError, match="bilstm-crf uses no language_model"):
        train(recipe(architecture="bilstm-crf"), data, tmp_path / "out", (), Settings())
