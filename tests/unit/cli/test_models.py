"""`trellis models`: a table of what lies there."""

import json
import subprocess

import pytest

from tests.unit.cli.conftest import environment, in_terminal


@pytest.fixture
def rows(trellis):
    """The table as a row of cells for each model."""

    def read():
        head, *lines = trellis("models").stdout.splitlines()
        starts = [head.index(word) for word in head.split()]
        ends = [*starts[1:], None]
        cells = [[line[i:j].strip() for i, j in zip(starts, ends, strict=True)] for line in lines]
        return {row[0]: dict(zip(head.split(), row, strict=True)) for row in cells}

    return read


def test_every_model_has_a_row(rows, models):
    table = rows()
    assert list(table) == sorted(path.name for path in models.iterdir())
    size_bytes = sum(file.stat().st_size for file in (models / "en-ner-made").iterdir())
    assert table["en-ner-made"] == {
        "NAME": "en-ner-made",
        "VERSION": "1.0.0",
        "COMMAND": "ner",
        "TAGSET": "",
        "ARCHITECTURE": "hmm",
        "DEFAULT": "default",
        "SIZE": f"{size_bytes / 1000:.0f} kB",
        "TEST": "F1 50.0 (Made)",
    }
    assert table["en-upos-made"]["TAGSET"] == "ud"
    assert table["en-upos-made"]["TEST"] == ""


def test_the_default_is_that_of_the_settings(rows, monkeypatch):
    def defaults():
        return [name for name, row in rows().items() if row["DEFAULT"]]

    assert defaults() == ["en-ner-made", "en-pos-made", "en-upos-made"]
    monkeypatch.setenv("TRELLIS_MODELS", "en-ner-other")
    assert defaults() == ["en-ner-other"]


def test_a_terminal_shows_the_same_with_a_bold_head(program, models):
    piped = subprocess.run(
        [program, "models", "--models", models], env=environment(), capture_output=True, check=True
    )
    head, rest = piped.stdout.decode().split("\n", 1)
    shown = in_terminal([program, "models", "--models", models])
    assert shown == (0, f"\x1b[1m{head}\x1b[0m\n{rest}")


def test_a_damaged_manifest_is_told(trellis, tmp_path):
    manifest = tmp_path / "en-pos-bad" / "manifest.json"
    manifest.parent.mkdir()
    manifest.write_text(json.dumps({"format": 2}))
    result = trellis("models", "--models", tmp_path)
    assert result.exit_code == 1
    assert str(manifest) in result.stderr
