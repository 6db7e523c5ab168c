"""The table of the settings, from `service/config.py`."""

from collections.abc import Iterator

from annotated_types import Ge, Gt, Le
from pydantic.fields import FieldInfo

from service.config import Settings

_TYPES = {bool: "true or false", int: "integer", float: "number"}
_PATHS = {"models_dir": "folder", "metrics_dir": "folder", "api_keys_file": "file"}


def settings_table() -> str:
    """Each setting: its variable, what it may be, its default and its meaning."""
    rows = [
        f"| `TRELLIS_{name.upper()}` | {_type(name, field)} | {_default(field)} "
        f"| {field.description} |"
        for name, field in Settings.model_fields.items()
    ]
    return "\n".join(
        ["| variable | type | default | meaning |", "| --- | --- | --- | --- |", *rows]
    )


def _type(name: str, field: FieldInfo) -> str:
    if name in _PATHS:
        return _PATHS[name]
    kind = next((word for kind, word in _TYPES.items() if field.annotation is kind), "text")
    return ", ".join([kind, *_bounds(field)])


def _bounds(field: FieldInfo) -> Iterator[str]:
    limits = {type(limit): limit for limit in field.metadata}
    match limits.get(Ge), limits.get(Gt), limits.get(Le):
        case Ge(least), _, Le(most):
            yield f"{least:,} to {most:,}"
        case Ge(least), _, None:
            yield f"at least {least:,}"
        case None, Gt(least), Le(most):
            yield f"over {least:,} to {most:,}"


def _default(field: FieldInfo) -> str:
    if isinstance(field.default, bool):
        return f"`{str(field.default).lower()}`"
    return "unset" if field.default in (None, "") else f"`{field.default}`"
