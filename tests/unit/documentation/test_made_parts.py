"""What programs make of the docs is as they make it now; run `make docs` where it is not."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from documentation.figures import measured_models, measured_speeds
from documentation.made import made_files
from documentation.pages import DOCS

RESULTS = """\
| `sentences`, tokens per | CPU second | second |
| --- | ---: | ---: |
| en-ner-crf (ner) | 1,234 | 1,000 |
| en-ner-crf, 32 sentences at a time (ner) | 999 | 998 |
| spaCy NER (ner) | 5 | 4 |

| `plain`, tokens per | CPU second | second |
| --- | ---: | ---: |
| en-ner-crf (ner) | 4,321 | 4,000 |
"""


@pytest.mark.parametrize("path", made_files(), ids=lambda path: path.name)
def test_made_parts_are_as_they_are_made(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == made_files()[path]


def test_speeds_are_those_of_whole_models_on_sentences() -> None:
    assert measured_speeds(RESULTS) == {"en-ner-crf": 1234}


@pytest.mark.parametrize("task", ["ner", "tag"])
def test_each_measured_model_is_in_its_plot(task: str) -> None:
    file = {"ner": "entities.svg", "tag": "parts-of-speech.svg"}[task]
    plot = (DOCS / "drawings" / file).read_text(encoding="utf-8")
    models = measured_models(task)
    assert len(models) > 3
    for model in models:
        label = f">{model.name} {model.main_score:.1f}, {model.size_mb:.0f} MB<"
        assert (label in plot) == (model.tokens_per_cpu_s is not None)


def test_a_faster_model_stands_further_right_and_a_better_one_higher() -> None:
    plot = (DOCS / "drawings" / "entities.svg").read_text(encoding="utf-8")
    discs = re.findall(r'cx="([\d.]+)" cy="([\d.]+)".*\n.*>(en-[\w-]+) ', plot)
    places = {name: (float(x), float(y)) for x, y, name in discs}
    drawn = [model for model in measured_models("ner") if model.name in places]
    by_speed = sorted(drawn, key=lambda model: model.tokens_per_cpu_s or 0)
    by_score = sorted(drawn, key=lambda model: -model.main_score)
    assert len(drawn) > 3
    assert [m.name for m in by_speed] == sorted(places, key=lambda name: places[name][0])
    assert [m.name for m in by_score] == sorted(places, key=lambda name: places[name][1])


@pytest.mark.parametrize("file", ["entities.svg", "parts-of-speech.svg"])
def test_the_labels_of_a_plot_stand_in_it_and_apart(file: str) -> None:
    plot = (DOCS / "drawings" / file).read_text(encoding="utf-8")
    labels = re.findall(r'x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">(en-[^<]+)<', plot)
    places = []
    for x, y, anchor, label in labels:
        width = 7.7 * len(label)  # as measured in a browser
        left = float(x) - {"start": 0, "middle": width / 2, "end": width}[anchor]
        places.append((float(y), left, left + width))
    assert len(places) > 3
    # From the axis to the edge.
    assert min(left for _, left, _ in places) >= 50
    assert max(right for *_, right in places) <= 560
    heights = sorted(y for y, _, _ in places)
    assert all(below - above >= 15 for above, below in pairwise(heights))
