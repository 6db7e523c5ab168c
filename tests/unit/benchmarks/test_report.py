"""The report: tables, what was skipped, and what was reached."""

import pytest

from benchmarks.report import figures, render, table
from benchmarks.targets import TARGETS, Target

RESULTS = {
    "load": 0.5,
    "versions": {"NumPy": "2.4.6"},
    "about": {
        "sets": {"plain": {"texts": 2, "tokens": 2000, "unseen": {"en-ner-crf": 0.125}}},
        "tokens": {"request": 25, "batch_request": 640},
    },
}


def target(bound, limit):
    return Target("speed", bound, limit, "seconds", lambda results: results["speed"])


def test_a_table_is_markdown():
    assert table(["text", "tokens"], [["plain", "2,000"]]).splitlines() == [
        "| text | tokens |",
        "| --- | ---: |",
        "| plain | 2,000 |",
    ]


def test_figures_are_rounded_and_a_skipped_row_says_why():
    assert figures({"cpu": 1234.56, "wall": 0.125}, ("cpu", 0), ("wall", 2)) == ["1,235", "0.12"]
    assert figures("skipped: no Node", ("cpu", 0), ("wall", 2)) == ["skipped: no Node", ""]


@pytest.mark.parametrize(
    ("bound", "limit", "figure", "verdict"),
    [
        ("at least", 4, 4.0, "met"),
        ("at least", 4, 3.99, "not met"),
        ("at most", 2, 2.0, "met"),
        ("at most", 2, 2.01, "not met"),
    ],
)
def test_a_target_is_met_up_to_its_bound(bound, limit, figure, verdict):
    assert target(bound, limit).judge({"speed": figure}) == (f"{figure:.2f}", verdict)


def test_a_target_of_a_part_that_was_left_out_is_not_measured():
    assert target("at least", 4).judge({}) == ("", "not measured")


def test_a_ratio_is_of_the_program_to_its_peer():
    rates = {"en-ner-crf (ner)": {"cpu": 900.0}, "python-crfsuite tuned (ner)": {"cpu": 300.0}}
    [figure, *_] = [t.judge({"batch": {"plain": rates}}) for t in TARGETS if "tuned" in t.statement]
    assert figure == ("3.00", "not met")


def test_a_ratio_to_a_skipped_peer_is_not_measured():
    rates = {"en-ner-crf (ner)": {"cpu": 900.0}, "spaCy NER (ner)": "skipped: no network"}
    [judged, *_] = [t.judge({"batch": {"plain": rates}}) for t in TARGETS if "spaCy" in t.statement]
    assert judged == ("", "not measured")


def test_a_ratio_to_a_server_that_answered_nothing_is_not_measured():
    servers = {"Trellis with en-ner-crf": {"per_s": 9.0}, "spaCy behind Flask": {"per_s": 0.0}}
    [target] = [t for t in TARGETS if "/ner/batch" in t.what]
    judged = target.judge({"http": {"/ner/batch": {8: servers}}})
    assert judged == ("", "not measured")


def test_memory_that_grows_linearly_takes_at_most_four_times_as_much():
    [memory] = [t for t in TARGETS if "two million" in t.statement]
    linear = [{"growth_mb": 40.0 * size + 20} for size in (1, 2, 4)]
    square = [{"growth_mb": 40.0 * size**2} for size in (1, 2, 4)]
    assert memory.judge({"long": linear}) == ("3.00", "met")
    assert memory.judge({"long": square}) == ("16.00", "not met")


def test_the_report_says_what_ran_where_and_only_what_was_measured():
    report = render(RESULTS | {"http": "skipped: wrk is not installed"}, "bench", "2026-01-02")
    assert "Written by `bench` on 2026-01-02" in report
    assert "- NumPy: 2.4.6" in report
    assert "| plain | 2 | 2,000 | 12.5 % |" in report
    assert "## HTTP\n\nskipped: wrk is not installed" in report
    assert "## Batches" not in report
    assert report.count("| not measured |") == len(TARGETS)
