"""Text that a trained model tags."""

import pytest

from service.config import Settings
from service.errors import CorpusError, RecipeError
from service.training.recipe import Recipe
from service.training.tagged_texts import tag_texts
from service.training.train import train
from tests.made_corpora import tag_sentences, write_columns

MADE = {
    "version": "1.0.0",
    "description": "made by a test",
    "language": "xx",
    "licence": "none",
    "task": "tag",
    "tagset": "made",
}
CORPUS = {"name": "Made", "licence": "none", "url": "", "format": "columns", "train": ["gold.tsv"]}
LABELS = ("!", "DT", "JJ", "NN", "RB", "VB", ".")
FIRST, SECOND = tag_sentences(2500, seed=1), tag_sentences(60, seed=2)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with a teacher, and two files of text that it gets right."""
    folder = tmp_path_factory.mktemp("data")
    write_columns(folder / "gold.tsv", tag_sentences(300))
    write_columns(folder / "first.tsv", FIRST)
    write_columns(folder / "second.tsv", SECOND)
    made = {**MADE, "name": "xx-tag-hmm", "architecture": "hmm", "corpora": [CORPUS]}
    train(Recipe.model_validate(made), folder, folder / "xx-tag-hmm", (), Settings())
    return folder


def recipe(**text):
    files = {"name": "Text", "licence": "none", "format": "columns", "files": ["first.tsv"], **text}
    made = {**MADE, "name": "xx-tag-crf", "architecture": "crf", "corpora": [CORPUS]}
    return Recipe.model_validate({**made, "teachers": ["xx-tag-hmm"], "texts": [files]})


def test_every_word_is_counted_with_the_tag_that_the_teacher_gives_it(data):
    tagged = tag_texts(recipe(files=["first.tsv", "second.tsv"]), data, LABELS, ())
    assert not tagged.sentences
    words = [word for sentence in FIRST + SECOND for word in sentence.words]
    assert {word: of.total() for word, of in tagged.counts.items()} == {
        word: words.count(word) for word in set(words)
    }
    assert set(tagged.counts["the"]) == {"DT"}


def test_one_sentence_in_so_many_is_a_training_sentence_too(data):
    held_out = {FIRST[14].words}
    asked = recipe(files=["first.tsv", "second.tsv"], every=7)
    found = tag_texts(asked, data, LABELS, held_out).sentences
    expected = [s for s in (FIRST + SECOND)[::7] if s.words not in held_out]
    assert [sentence.words for sentence in found] == [sentence.words for sentence in expected]
    assert sum(a.tags == b.tags for a, b in zip(found, expected, strict=True)) > 300


def test_sentences_with_tags_that_gold_has_not_are_refused(data):
    with pytest.raises(RecipeError, match="no training sentence has the teacher's VB"):
        tag_texts(recipe(every=7), data, [tag for tag in LABELS if tag != "VB"], ())
    assert tag_texts(recipe(), data, ["NN"], ()).counts  # of which classes are made all the same


def test_a_text_that_is_not_there_is_named(data):
    with pytest.raises(CorpusError, match=r"nowhere\.tsv"):
        tag_texts(recipe(files=["nowhere.tsv"]), data, LABELS, ())


def test_without_texts_there_is_nothing(data):
    nothing = recipe().model_copy(update={"texts": (), "teachers": ()})
    assert not tag_texts(nothing, data, LABELS, ()).counts
