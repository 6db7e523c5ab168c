import numpy as np
import pytest

from service.errors import RecipeError
from service.training.tables import tabulate

TABLES = {
    "tags": ["N", "V"],
    "start": [0.75, 0.25],
    "transitions": {"N": [0.5, 0.5], "V": [1.0, 0.0]},
    "emissions": {"fish": {"N": 0.5}},
    "unknown": 0.125,
}


def test_tables_become_log_probabilities_and_what_is_left_out_is_forbidden():
    parameters = tabulate(TABLES)
    assert np.exp(parameters.arrays["start"]).tolist() == pytest.approx([0.75, 0.25])
    assert parameters.arrays["transitions"][1].tolist() == [0, -np.inf]
    assert parameters.arrays["emissions"].tolist() == [[np.log(0.5), -np.inf]]
    assert np.exp(parameters.arrays["suffix_emissions"][0]).tolist() == pytest.approx(
        [0.125, 0.125]
    )
    assert not parameters.arrays["end"].any()


@pytest.mark.parametrize(
    ("replaced", "reason"),
    [
        ({"start": [1.0]}, "expected 2 numbers in a row"),
        ({"transitions": {"N": [0.5, 0.5]}}, "expected one row for each tag"),
        ({"transitions": {"N": [0.5, 0.5], "V": [0.5]}}, "expected 2 numbers in a row"),
        ({"emissions": {"fish": {"X": 0.5}}}, "X: no such tag"),
        ({"start": [1.5, 0.1]}, "between 0 and 1"),
        ({"emissions": {"fish": {"N": -0.5}}}, "between 0 and 1"),
        ({"start": [float("nan"), 0.1]}, "between 0 and 1"),
        ({"unknown": 0}, "tables: unknown"),
    ],
)
def test_tables_that_do_not_fit_are_refused(replaced, reason):
    with pytest.raises(RecipeError, match=reason):
        tabulate({**TABLES, **replaced})
