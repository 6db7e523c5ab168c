"""An HMM whose probabilities are written down, not estimated: for teaching."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from service.errors import RecipeError, first_fault
from service.taggers.base import Parameters


class HmmTables(BaseModel):
    """The ``[tables]`` of a recipe: probabilities, not logarithms; what is left out is zero."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tags: tuple[str, ...] = Field(min_length=1, description="The K tags, in the tables' order.")
    start: tuple[float, ...] = Field(description="P(tag | beginning of the sentence), K numbers.")
    transitions: dict[str, tuple[float, ...]] = Field(
        description="P(next tag | tag): K numbers for each of the K tags."
    )
    emissions: dict[str, dict[str, float]] = Field(description="P(word | tag), by word and tag.")
    unknown: float = Field(gt=0, le=1, description="P(word | tag) of a word not in emissions.")

    @model_validator(mode="after")
    def _has_a_number_for_each_tag(self) -> "HmmTables":
        tags = self.tags
        if set(self.transitions) != set(tags) or len(set(tags)) != len(tags):
            raise ValueError("transitions: expected one row for each tag, and every tag once")
        rows = [self.start, *self.transitions.values()]
        if any(len(row) != len(tags) for row in rows):
            raise ValueError(f"start and transitions: expected {len(tags)} numbers in a row")
        stray = {tag for of_word in self.emissions.values() for tag in of_word} - set(tags)
        if stray:
            raise ValueError(f"emissions: {', '.join(sorted(stray))}: no such tag")
        cells = [p for row in rows for p in row]
        cells += [p for of_word in self.emissions.values() for p in of_word.values()]
        if not all(0 <= p <= 1 for p in cells):
            raise ValueError("a probability lies between 0 and 1")
        return self


def tabulate(tables: dict[str, Any]) -> Parameters:
    """Make the parameters of an HMM of K tags from its tables.

    Raises
    ------
    RecipeError
        Where the tables do not fit each other.
    """
    try:
        given = HmmTables.model_validate(tables)
    except ValidationError as error:
        raise RecipeError(f"tables: {first_fault(error)}") from error
    words = sorted(given.emissions)
    rows = [[given.emissions[word].get(tag, 0.0) for tag in given.tags] for word in words]
    return Parameters(
        labels=given.tags,
        arrays={
            "start": _log(given.start),
            "transitions": _log([given.transitions[tag] for tag in given.tags]),
            "end": _log([1.0] * len(given.tags)),  # the tables say nothing of how sentences end
            "emissions": _log(rows),
            "suffix_emissions": _log([[given.unknown] * len(given.tags)]),
        },
        vocabularies={"words": words, "suffixes": [""]},
    )


def _log(probabilities: Any) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):  # the logarithm of zero is minus infinity: forbidden
        return np.log(np.array(probabilities, dtype=np.float64))
