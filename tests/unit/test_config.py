"""Settings: read once, checked, and named where they cannot be used."""

from pathlib import Path

import pytest

from service.config import Settings, load_settings
from service.errors import SettingError


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    for name in Settings.model_fields:
        monkeypatch.delenv(f"TRELLIS_{name.upper()}", raising=False)


def test_a_setting_that_is_empty_counts_as_unset(monkeypatch):
    for name in Settings.model_fields:
        monkeypatch.setenv(f"TRELLIS_{name.upper()}", "")
    assert load_settings() == Settings()


def test_names_of_models_are_parted_by_commas(monkeypatch):
    monkeypatch.setenv("TRELLIS_MODELS", " en-ner-crf, en-pos-hmm ,")
    assert load_settings().model_names == ("en-ner-crf", "en-pos-hmm")


def test_models_come_from_the_setting_else_from_the_checkout(monkeypatch, tmp_path):
    if not Path("/models").is_dir():
        assert load_settings().models_path == Path(__file__).parents[2] / "models"
    monkeypatch.setenv("TRELLIS_MODELS_DIR", str(tmp_path))
    assert load_settings().models_path == tmp_path


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "http"),
        ("PORT", "70000"),
        ("MAX_RUNNING", "0"),
        ("MAX_TEXT_CHARS", "-1"),
        ("REQUEST_TIMEOUT_S", "inf"),
        ("CLIENT_TIMEOUT_S", "1e23"),
        ("STREAM_TIMEOUT_S", "nan"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(monkeypatch, name, value):
    monkeypatch.setenv(f"TRELLIS_{name}", value)
    with pytest.raises(SettingError, match=f"^TRELLIS_{name}: "):
        load_settings()


def test_every_setting_says_what_it_means():
    assert all(field.description for field in Settings.model_fields.values())
