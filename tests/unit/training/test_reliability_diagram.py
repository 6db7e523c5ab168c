from xml.etree import ElementTree

import numpy as np
import pytest

from service.training.calibration import Reliability, reliability
from service.training.reliability_diagram import reliability_svg

SVG = "{http://www.w3.org/2000/svg}"
NONE = reliability(np.zeros(0), np.zeros(0, dtype=bool))
THREE = reliability(np.array([0.99, 0.96, 0.5]), np.array([True, False, True]))
TOKENS = Reliability("Made <1>", "dev", "token_ece", THREE)
NOTHING = Reliability("Made", "test", "span_ece", NONE)


def drawn(*diagrams):
    return ElementTree.fromstring(reliability_svg(diagrams))


def bars(svg, kind):
    """Height of each bar of a kind in a diagram; the last of these is the legend's."""
    found = [r for r in svg.iter(f"{SVG}rect") if r.get("class") == kind]
    return [float(r.get("height")) for r in found]


def test_it_says_what_it_shows():
    texts = [text.text for text in drawn(TOKENS).iter(f"{SVG}text")]
    assert {"Made <1>", "accuracy", "confidence", "number of predictions"} <= set(texts)
    # two of three: right 1/2, said 0.975; one: right, said 0.5
    assert "dev, tags: ECE 48.33 %, n = 3" in texts


def test_bars_are_as_high_as_the_accuracy_and_the_gap_to_the_confidence():
    svg = drawn(TOKENS)
    assert bars(svg, "accuracy")[:-1] == [260, 130]
    assert bars(svg, "gap")[:-1] == pytest.approx([130, 260 * 0.475], abs=0.06)
    assert bars(svg, "count") == [30, 60]


def test_no_predictions_are_a_diagram_without_bars():
    svg = drawn(NOTHING)
    assert bars(svg, "count") == []
    texts = [text.text for text in svg.iter(f"{SVG}text")]
    assert {"Made", "test, entities: nothing predicted"} <= set(texts)


@pytest.mark.parametrize(("count", "columns", "rows"), [(1, 1, 1), (2, 2, 1), (3, 2, 2)])
def test_two_stand_in_a_row(count, columns, rows):
    one, many = drawn(TOKENS), drawn(*[TOKENS] * count)
    assert int(many.get("width")) == columns * int(one.get("width"))
    assert int(many.get("height")) == rows * int(one.get("height"))
