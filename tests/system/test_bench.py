"""README's quick look at the speed reports a positive figure in every cell."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.lineup import MODELS
from benchmarks.report import PARTS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

pytestmark = [
    pytest.mark.skipif(shutil.which(tool) is None, reason=f"{tool} is not installed")
    for tool in ("git", "make", "wrk")
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What README's quick command writes in a fresh clone."""
    [options] = re.findall(r"^make bench BENCH=(.*)", README, re.MULTILINE)
    folder = tmp_path_factory.mktemp("bench")
    clone, output = folder / "trellis", folder / "report.md"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    # the environment is the one that this test runs in
    environment = ["-o", ".venv-dev/installed", f"DEV_PYTHON={sys.executable}"]
    command = ["make", *environment, "bench", f"BENCH={options} --output {output}"]
    result = subprocess.run(command, cwd=clone, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return output.read_text(encoding="utf-8")


def tables(report: str) -> list[tuple[list[str], list[list[str]]]]:
    """The head and the rows of each table."""
    found = re.findall(r"(?:^\|.*\n?)+", report, re.MULTILINE)
    cells = [
        [[cell.strip() for cell in line[1:-1].split("|")] for line in table.splitlines()]
        for table in found
    ]
    return [(table[0], table[2:]) for table in cells]


OF_SPANS = ("threshold", "dictionary", "constraints")
MAY_BE_ZERO = re.compile("not in the table|errors|rest of the pipeline|request and JSON")


def test_every_part_is_reported_with_positive_figures(report: str) -> None:
    measured = report.split("## To reach")[0]
    assert len(re.findall("^## ", measured, re.MULTILINE)) == 1 + len(PARTS)
    assert "skipped" not in measured
    for heads, rows in tables(measured):
        assert rows
        for row in rows:
            for head, cell in zip(heads[1:], row[1:], strict=True):
                if row[0] in OF_SPANS or head == "spans":  # of models for names alone
                    model = head if row[0] in OF_SPANS else row[0]
                    assert (cell == "") == (MODELS[model] == "pos")
                    if cell == "":
                        continue
                figure = float(cell.removesuffix(" %").replace(",", ""))
                may_be_zero = MAY_BE_ZERO.search(f"{head} {row[0]}")
                assert figure > 0 or (figure == 0 and may_be_zero), (head, row)


def test_every_model_and_server_stands_in_the_report(report: str) -> None:
    for name in MODELS:
        assert re.search(rf"^\| {name} \(\w+\) \| [1-9]", report, re.MULTILINE)
    for name in ("Trellis", "empty Flask application"):
        assert re.search(rf"^\| {name} \| 8 \| [1-9]", report, re.MULTILINE)


def test_every_target_is_judged_or_said_not_to_be_measured(report: str) -> None:
    [(_, rows)] = tables(report.split("## To reach")[1])
    for statement, figure, verdict in rows:
        assert verdict == "not measured" if figure == "" else verdict in ("met", "not met")
        compares = re.search("x (python|spaCy|wink|the network)", statement)
        assert bool(compares) == (verdict == "not measured")
