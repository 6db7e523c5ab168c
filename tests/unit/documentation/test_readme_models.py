"""The README's table of the models: what they weigh."""

import re

import pytest

from documentation.figures import measured_models
from documentation.pages import ROOT

ROWS = {
    match[1]: line
    for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    if (match := re.match(r"\| `([a-z-]+)` \| `/", line))
}


@pytest.mark.parametrize("model", [*measured_models("ner"), *measured_models("tag")])
def test_the_size_of_a_model_is_that_of_its_directory(model):
    assert f"| {model.size_mb:.1f} MB |" in ROWS[model.name]
