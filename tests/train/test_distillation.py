"""What teachers say of sentences, and networks that learn from it."""

import random

import numpy as np
import pytest
import torch

from service.config import Settings
from service.decoding import ChainScores, Constraints, Transitions
from service.errors import RecipeError
from service.store.directory import constraints_of
from service.taggers import ARCHITECTURES
from service.text.conll import TaggedSentence
from service.training.batches import Batches, Vocabulary
from service.training.bilstm_crf import estimate
from service.training.bilstm_crf_options import BilstmCrfOptions
from service.training.distillation import Expectation, expectations, read_teacher
from service.training.evaluation import Evaluator
from service.training.recipe import Recipe
from service.training.train import train
from tests.made_corpora import ner_sentences, write_columns
from tests.train.store import OPTIONS

LABELS = ("B-ORG", "B-PER", "I-ORG", "I-PER", "O")


class Sure:
    """A tagger that gives every word one tag."""

    labels = LABELS
    probabilistic = True

    def __init__(self, tag):
        self._tag = tag

    def score(self, words, sentence_offsets):
        emissions = np.full((len(words), len(LABELS)), -1000.0)
        emissions[:, LABELS.index(self._tag)] = 0
        return ChainScores(emissions, Transitions(*none()), sentence_offsets)


def none():
    constraints = Constraints.none(len(LABELS))
    return constraints.transitions, constraints.start, constraints.end


def test_teachers_and_gold_tags_are_mixed():
    sentences = [
        TaggedSentence(("a", "b", "c"), ("O", "O", "O")),
        TaggedSentence(("d",), ("B-PER",)),
    ]
    teachers = [Sure("O"), Sure("B-ORG")]
    longer, shorter = expectations(sentences, LABELS, teachers, 0.5)
    assert longer.tags == pytest.approx(np.array([[0.25, 0, 0, 0, 0.75]] * 3))
    assert longer.moves[[4, 0], [4, 0]].tolist() == [1.5, 0.5]
    assert longer.moves.sum() == 2
    assert shorter.tags == pytest.approx(np.array([[0.25, 0.5, 0, 0, 0.25]]))
    assert not shorter.moves.any()


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    write_columns(data / "train.tsv", ner_sentences(200))
    corpus = {"name": "Made", "licence": "none", "url": "https://example.org/", "format": "columns"}
    recipe = Recipe.model_validate(
        {
            "name": "xx-ner-teacher",
            "version": "1.0.0",
            "description": "made by a test",
            "language": "xx",
            "task": "ner",
            "architecture": "bilstm-crf",
            "licence": "none",
            "options": {**OPTIONS, "character_hidden": 8},
            "corpora": [{**corpus, "train": ["train.tsv"]}],
        }
    )
    out = data / "xx-ner-teacher"
    train(recipe, data, out, (), Settings())
    return out, recipe


def taught(teachers, checkpoint=None, **replaced):
    """What is learned from sentences in which gold tags find no names, and teachers may."""
    told = [
        TaggedSentence(s.words, s.tags if i < 10 else ("O",) * len(s.tags))
        for i, s in enumerate(ner_sentences(200))
    ]
    constraints = constraints_of("ner", LABELS)
    options = BilstmCrfOptions(**{**OPTIONS, "character_hidden": 8, **replaced})
    return estimate(told, [], LABELS, constraints, options, None, 0, checkpoint, teachers=teachers)


def student(teachers, **replaced):
    """A tagger with what `taught` gives."""
    made = taught(teachers, **replaced)
    return ARCHITECTURES["bilstm-crf"](made, constraints_of("ner", LABELS), 100)


def f1(tagger):
    return Evaluator(tagger, "ner", 100).gold_words(ner_sentences(100, seed=1), "", "test").value


def test_a_network_learns_from_its_teacher_what_gold_tags_do_not_say(teacher):
    directory, _ = teacher
    assert f1(student([])) < 0.5
    assert f1(student([directory], gold_share=0.0)) > 0.9


def test_a_network_may_begin_as_its_teacher(teacher):
    directory, _ = teacher
    hardly = {"epochs": 1, "learning_rate": 1e-6}
    assert f1(student([directory], begins_as_teacher=True, **hardly)) > 0.9
    assert f1(student([directory], **hardly)) < 0.5


def test_of_several_runs_the_mean_is_kept(teacher, tmp_path):
    directory, _ = teacher
    options = {"begins_as_teacher": True, "gold_share": 0.0, "epochs": 2, "runs": 3}
    made = taught([directory], tmp_path / "state", **options)
    assert f1(student([directory], **options)) > 0.9
    runs = [torch.load(tmp_path / name)["best_weights"] for name in ("state", "state.2", "state.3")]
    biases = [weights["output.bias"].numpy() for weights in runs]
    assert len({each.tobytes() for each in biases}) == 3
    assert made.arrays["output_bias"] == pytest.approx(np.mean(biases, axis=0), rel=1e-3)


def test_interrupted_runs_go_on_to_the_same_weights(teacher, tmp_path, monkeypatch):
    directory, _ = teacher
    options = {"begins_as_teacher": True, "epochs": 2, "runs": 2}
    file = tmp_path / "state"
    saved = torch.save

    def save_and_stop(state, path):
        saved(state, path)
        if path != file:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(torch, "save", save_and_stop)
        with pytest.raises(KeyboardInterrupt):
            taught([directory], file, **options)
    resumed, whole = taught([directory], file, **options), taught([directory], **options)
    assert all(np.array_equal(resumed.arrays[name], whole.arrays[name]) for name in whole.arrays)


def test_several_runs_begin_with_trained_weights(teacher):
    with pytest.raises(RecipeError, match="runs: more than one needs begins_as_teacher"):
        student([teacher[0]], runs=2)


def test_a_network_cannot_begin_as_one_that_is_unlike_it_or_missing(teacher):
    directory, _ = teacher
    with pytest.raises(RecipeError, match="the first teacher has other words, widths or layers"):
        student([directory], begins_as_teacher=True, hidden=13)
    with pytest.raises(RecipeError, match="there is no teacher"):
        student([], begins_as_teacher=True)


def test_a_teacher_of_other_tags_is_refused(teacher):
    directory, _ = teacher
    with pytest.raises(RecipeError, match=r"works in B-ORG, .*, not in B-X, O"):
        read_teacher(directory, ("B-X", "O"))


def test_a_recipe_names_its_teachers_and_the_model_their_sources(teacher, tmp_path):
    directory, recipe = teacher
    [corpus] = recipe.corpora
    other = corpus.model_copy(update={"name": "Other"})
    made = recipe.model_copy(update={"teachers": (directory.name,), "corpora": (other,)})
    manifest = train(made, directory.parent, tmp_path / recipe.name, (), Settings())
    alone, with_teacher = (
        (folder / "weights.safetensors").read_bytes()
        for folder in (directory, tmp_path / recipe.name)
    )
    assert alone != with_teacher
    assert [source.name for source in manifest.sources] == ["Other", "Made"]


def test_lessons_stay_with_their_sentences():
    sentences = [TaggedSentence((f"w{i}",) * i, ("O",) * i) for i in range(1, 8)]
    lessons = [
        Expectation(np.full((i, 5), i, dtype=np.float32), np.full((5, 5), i, dtype=np.float32))
        for i in range(1, 8)
    ]
    batches = Batches(sentences, Vocabulary([], []), {"O": 0}, 3, lessons=lessons)
    seen = 0
    for batch in batches.shuffled(random.Random(0), unknown_share=0, recased_share=1):
        lengths = batch.lengths.tolist()
        assert batch.lesson.moves[:, 0, 0].tolist() == lengths
        inside = torch.arange(len(batch.words))[:, None] < batch.lengths
        assert batch.lesson.tags[:, :, 0].tolist() == (inside * batch.lengths).tolist()
        seen += len(lengths)
    assert seen == 7
