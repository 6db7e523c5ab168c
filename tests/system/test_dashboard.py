"""Grafana's own types read the dashboard, and nothing of it is unknown to them."""

import json
from collections.abc import Iterator
from typing import Any

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from tests.api.conftest import ROOT


def lost(value: Any, read: Any, place: str = "") -> Iterator[str]:
    """Where something of `value` is missing or another in what was read of it."""
    if isinstance(value, dict) and isinstance(read, dict):
        for key, inner in value.items():
            yield from lost(inner, read.get(key), f"{place}/{key}")
    elif isinstance(value, list) and isinstance(read, list) and len(value) == len(read):
        for index, (inner, other) in enumerate(zip(value, read, strict=True)):
            yield from lost(inner, other, f"{place}/{index}")
    elif value != read:
        yield place


def test_the_dashboard_has_only_what_grafana_knows() -> None:
    register_default_plugins()  # panels and queries have types of their own
    text = (ROOT / "deploy/grafana/dashboards/trellis.json").read_text("utf-8")
    value = json.loads(text)
    read = json.loads(JSONEncoder(sort_keys=True).encode(Dashboard.from_json(value)))
    assert list(lost(value, read)) == []
    misspelt = json.loads(text.replace('"legendFormat"', '"legendformat"', 1))
    read = json.loads(JSONEncoder(sort_keys=True).encode(Dashboard.from_json(misspelt)))
    assert len(list(lost(misspelt, read))) == 1
