"""The options of a request whose body has no place for them: those of its query string."""

from typing import Any, TypeVar

from werkzeug.datastructures import MultiDict

from service.api.body import parse_json
from service.api.problems import Problem
from service.api.schemas import Options, json_pointer, validated
from service.errors import InputError

O = TypeVar("O", bound=Options)  # noqa: E741

_STRINGS = {"model", "offset_unit", "tagset"}
_REPEATED = {"labels"}


def query_options(schema: type[O], parameters: MultiDict[str, str]) -> O:
    """The options that a query string holds.

    Strings stand as they are, `labels` once for each label, and all else as JSON.

    Raises
    ------
    InputError
        Names the first parameter that is wrong; never quotes its value.
    """
    values = {name: _value(name, given) for name, given in parameters.lists()}
    return validated(schema, values)


def _value(name: str, given: list[str]) -> Any:
    pointer = json_pointer([name])
    if name in _REPEATED:
        return given
    if len(given) > 1:
        raise InputError("There is more than one value", pointer)
    if name in _STRINGS:
        return given[0]
    try:
        return parse_json(given[0].encode())
    except Problem:
        raise InputError("Input should be valid JSON", pointer) from None
