"""A peer's model is trained once for the same data; what fails says why."""

import sys

import pytest

from benchmarks import environments
from benchmarks.environments import Unavailable, node_modules_of, trained
from benchmarks.peers.crfsuite.features import TunedFeatures, tutorial
from benchmarks.programs import Command, Entrant, Program

MODULE = "benchmarks.peers.crfsuite.train"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(environments, "CACHE", tmp_path / "cache")


def test_a_model_is_trained_again_only_for_other_data(tmp_path):
    training = tmp_path / "train.json"
    training.write_text('[[["a", "b"], ["X", "Y"]], [["b"], ["Y"]]]')
    model = trained(sys.executable, MODULE, ["tuned"], training)
    written = model.stat().st_mtime_ns
    assert trained(sys.executable, MODULE, ["tuned"], training) == model
    assert model.stat().st_mtime_ns == written
    training.write_text('[[["a", "c"], ["X", "Z"]]]')
    assert trained(sys.executable, MODULE, ["tuned"], training) != model


def test_a_training_that_fails_says_why(tmp_path):
    training = tmp_path / "train.json"
    training.write_text("no JSON")
    with pytest.raises(Unavailable, match="JSONDecodeError"):
        trained(sys.executable, MODULE, ["tuned"], training)


def test_without_node_its_peer_is_unavailable(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Unavailable, match="node is not installed"):
        node_modules_of("wink")


def test_a_program_that_does_not_start_is_unavailable():
    entrant = Entrant(
        "broken", "ner", lambda: Command([sys.executable, "-c", "raise SystemExit(7)"])
    )
    with pytest.raises(Unavailable, match="exit code 7"):
        Program(entrant)


@pytest.mark.parametrize("words", [[], ["Alone"], ["IBM", "hires", "Jane", "in", "1999", "."]])
def test_both_templates_of_the_crf_say_the_same(words):
    """A tuned feature that is there stands for one of the tutorial's that is not false."""
    tuned, dicts = TunedFeatures()(words), tutorial(words)
    assert [len(features) for features in tuned] == [
        sum(value is not False for value in features.values()) for features in dicts
    ]
