"""Rates and percentiles are medians of the rounds, and programs take turns."""

import pytest

from benchmarks.throughput import SOME, batches, percentiles, singles


class FakeProgram:
    """Answers with prepared times, and writes down when it was asked."""

    def __init__(self, name, cpu_s, asked):
        self.name = name
        self.task = "ner"
        self._cpu_s = iter(cpu_s)
        self._asked = asked

    def batch(self, texts):
        self._asked.append((self.name, texts))
        cpu_s = next(self._cpu_s)
        return {"cpu_s": cpu_s, "wall_s": 2 * cpu_s, "found": 3}

    def each(self, texts):
        assert texts == SOME
        return [next(self._cpu_s)] * 10


class FakeRunning:
    def __init__(self, *programs, skipped=()):
        self.programs = programs
        self.skipped = dict(skipped)


def test_a_rate_is_of_the_median_round_and_the_first_pass_stands_apart():
    program = FakeProgram("en-ner-crf", [10.0, 1.0, 100.0, 2.0], [])
    found = batches(FakeRunning(program), {"plain": 600}, rounds=3)
    assert found == {
        "plain": {"en-ner-crf (ner)": {"cpu": 300.0, "wall": 150.0, "cold": 60.0, "found": 3}}
    }


def test_programs_take_turns():
    asked = []
    programs = [FakeProgram(name, [1.0] * 9, asked) for name in "ab"]
    batches(FakeRunning(*programs), {"plain": 1, "made": 1}, rounds=1)
    assert asked == [("a", "plain"), ("b", "plain")] * 2 + [("a", "made"), ("b", "made")] * 2


def test_what_was_skipped_stands_in_every_table():
    running = FakeRunning(skipped={"spaCy NER (ner)": "skipped: no network"})
    assert batches(running, {"plain": 1}, 1)["plain"]["spaCy NER (ner)"] == "skipped: no network"
    assert singles(running, 1) == {"spaCy NER (ner)": "skipped: no network"}


def test_a_text_alone_is_told_by_the_median_of_the_rounds():
    program = FakeProgram("en-ner-crf", [99.0, 5.0, 1.0, 3.0], [])
    other = FakeProgram("en-pos-hmm", [], [])
    found = singles(FakeRunning(program, other), rounds=3)
    assert found == {"en-ner-crf (ner)": {"p50": 3.0, "p99": 3.0}}


def test_percentiles_of_a_hundred_and_one_values():
    p50, p99 = percentiles([float(i) for i in range(101)])
    assert (p50, p99) == pytest.approx((50, 99))
