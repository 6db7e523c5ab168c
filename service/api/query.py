"""The options of a request whose body has no place for them: those of its query string."""

from typing import Any

from werkzeug.datastructures import MultiDict

from service.api.body import parse_json
from service.api.problems import Problem
from service.api.schemas import json_pointer
from service.errors import InputError

_STRINGS = {"model", "offset_unit", "tagset"}
_REPEATED = {"labels"}


def query_values(parameters: MultiDict[str, str]) -> dict[str, Any]:
    """The options that a query string holds, as a body of JSON would hold them.

    Strings stand as they are, `labels` once for each label, and all else as JSON.

    Raises
    ------
    InputError
        Names a parameter that cannot be read; never quotes its value.
    """
    return {name: _value(name, given) for name, given in parameters.lists()}


def _value(name: str, given: list[str]) -> object:
    if name in _REPEATED:
        return given
    if len(given) > 1:
        raise InputError("There is more than one value", json_pointer([name]))
    if name in _STRINGS:
        return given[0]
    try:
        return parse_json(given[0].encode())
    except Problem:
        raise InputError("Input should be valid JSON", json_pointer([name])) from None
