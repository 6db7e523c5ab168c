"""A model's temperature: other probabilities, the same tags."""

from dataclasses import replace
from math import log, sqrt

import pytest
from flask import Flask
from flask.testing import FlaskClient

from service.api.app import create_app
from service.config import Settings
from service.store.registry import Registry
from tests.api.fakes import rule_registry

TEXT = "Jane Villanueva of United Airlines"


@pytest.fixture(scope="module")
def hot() -> FlaskClient:
    """The models at the temperature 2."""
    registry = rule_registry()
    loaded = {
        name: replace(model, manifest=model.manifest.model_copy(update={"temperature": 2.0}))
        for name, model in registry.loaded.items()
    }
    app: Flask = create_app(Settings(), Registry(registry.manifests, loaded))
    return app.test_client()


def test_scores_are_divided_by_it_before_they_are_probabilities(
    client: FlaskClient, hot: FlaskClient
) -> None:
    request = {"text": "the", "confidence": True, "n_best": 1}
    for asked, other in ((client, 1 / 3), (hot, 1 / sqrt(3))):  # of each of the five other tags
        answer = asked.post("/tag", json=request).json
        assert answer["tokens"][0]["confidence"] == pytest.approx(1 / (1 + 5 * other))
        [best] = answer["sentences"][0]["n_best"]
        assert best["log_prob"] == pytest.approx(-log(1 + 5 * other))


def test_no_tag_and_no_span_changes(client: FlaskClient, hot: FlaskClient) -> None:
    request = {"text": TEXT, "confidence": False}
    plain, answer = (asked.post("/ner", json=request).json for asked in (client, hot))
    assert answer == plain
    request["confidence"] = True
    sure, less_sure = (asked.post("/ner", json=request).json["spans"] for asked in (client, hot))
    for before, after in zip(sure, less_sure, strict=True):
        assert after["confidence"] < before["confidence"]
