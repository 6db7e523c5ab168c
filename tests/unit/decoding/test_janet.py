"""The worked example of Jurafsky and Martin, *Janet will back the bill*, cell by cell.

The cells are filled here by hand, as the textbook fills them: products of published
probabilities, one column a word. The shipped model `en-pos-janet` holds the same tables.
"""

from pathlib import Path

import numpy as np
import pytest

from service.decoding import best_paths, viterbi_cells
from service.store.registry import load_model

MODEL = Path(__file__).parents[3] / "models" / "en-pos-janet"
WORDS = ["Janet", "will", "back", "the", "bill"]

# v_t(j) = v_(t-1)(i) a_ij b_j(o_t) of the predecessor i that wins; cells not named are zero.
V1_NNP = 0.2767 * 0.000032
V2_MD = V1_NNP * 0.0110 * 0.308431
V2_VB = V1_NNP * 0.0009 * 0.000028
V2_NN = V1_NNP * 0.0584 * 0.000200
V3_VB = V2_MD * 0.7968 * 0.000672
V3_JJ = V2_MD * 0.0005 * 0.000340
V3_NN = V2_MD * 0.0008 * 0.000223
V3_RB = V2_MD * 0.1698 * 0.010446
V4_NNP = V3_VB * 0.0322 * 0.000048
V4_DT = V3_VB * 0.2231 * 0.506099
V5_VB = V4_DT * 0.0021 * 0.000028
V5_NN = V4_DT * 0.4744 * 0.002337
TRELLIS = [
    {"NNP": V1_NNP},
    {"MD": V2_MD, "VB": V2_VB, "NN": V2_NN},
    {"VB": V3_VB, "JJ": V3_JJ, "NN": V3_NN, "RB": V3_RB},
    {"NNP": V4_NNP, "DT": V4_DT},
    {"VB": V5_VB, "NN": V5_NN},
]


@pytest.fixture(scope="module")
def tagger():
    return load_model(MODEL, max_unseen_words=10).tagger


def score(tagger, words):
    return tagger.score(words, np.array([0, len(words)]))


def test_every_cell_of_the_trellis_is_the_textbook_s(tagger):
    cells = np.exp(viterbi_cells(score(tagger, WORDS)))
    for column, expected in zip(cells, TRELLIS, strict=True):
        found = {tag: p for tag, p in zip(tagger.labels, column, strict=True) if p > 0}
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("cell", "published"),
    [(V1_NNP, 8.85e-6), (V2_MD, 3.004e-8), (V3_VB, 1.61e-11), (V3_RB, 5.33e-11), (V5_NN, 2.01e-15)],
)
def test_the_cells_are_the_figures_that_are_published(cell, published):
    assert cell == pytest.approx(published, rel=3e-3)


def test_the_best_path_runs_through_a_cell_that_did_not_win_its_column(tagger):
    scores = score(tagger, WORDS)
    path = [tagger.labels[i] for i in best_paths(scores)]
    assert path == ["NNP", "MD", "VB", "DT", "NN"]
    assert tagger.labels[viterbi_cells(scores)[2].argmax()] == "RB"


def test_a_word_that_it_does_not_know_is_emitted_uniformly(tagger):
    emissions = score(tagger, ["Janet", "zyzzyva"]).emissions
    assert len(set(emissions[1].tolist())) == 1
