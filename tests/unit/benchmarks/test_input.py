"""The texts that are measured where no data is given."""

import pytest

from benchmarks.input import WORDS_FROM, describe, made_texts


@pytest.mark.parametrize("model", WORDS_FROM)
def test_made_text_has_as_many_words_without_a_row_as_text_has(model):
    described = describe(made_texts(300, seed=0))
    assert 0.2 < described["unseen"][model] < 0.4
