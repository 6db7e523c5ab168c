"""All commands: their help, the examples in it, and how wrong uses are told."""

import os
import shlex
import subprocess
import sys

import click
import pytest

from service.cli import main
from tests.unit.cli.conftest import ROOT, environment

COMMANDS = list(main.commands)
EXAMPLES = [
    (name, line.strip())
    for name, command in main.commands.items()
    for line in (command.epilog or "").splitlines()
    if "trellis " in line and line.startswith("  ")
]
TEXTS = ("letter.txt", "notes.txt", "sentences.txt", "mine.tsv", "mine.conllu", "recipe.toml")
RUN = ("tag", "ner", "models", "completion")
"""Commands whose examples are run; those of the others serve, train or measure for long."""


@pytest.fixture
def folder(tmp_path, models):
    """A folder in which the examples find what they name."""
    for name in TEXTS:
        (tmp_path / name).write_text("Jane Novak went to Paris.\n")
    (tmp_path / "language_model.toml").write_text("")
    (tmp_path / "DATA").mkdir()
    (tmp_path / "models").symlink_to(ROOT / "models")
    (tmp_path / "my-models").symlink_to(models)
    for path in ("bash-completion/completions", "fish/completions"):
        (tmp_path / "home" / path).mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(trellis, name):
    result = trellis(name, "--help")
    assert result.exit_code == 0
    assert f"Usage: trellis {name} " in result.stdout
    assert name in [of for of, _ in EXAMPLES]
    summary = main.commands[name].get_short_help_str(limit=100)
    assert summary.endswith(".")
    assert summary in trellis("--help").stdout  # in full


def test_help_says_what_the_exit_codes_mean(trellis):
    stdout = trellis("--help").stdout
    assert all(f"\n    {code} " in stdout for code in (0, 1, 2, 3, 130, 141))


@pytest.mark.parametrize("arguments", ["--help", "-h", "--version", "ner -h", "models"])
def test_output_that_cannot_be_written_is_told(program, models, arguments):
    command = f"{program} {arguments} > /dev/full"
    result = subprocess.run(
        ["sh", "-c", command],
        env=environment(TRELLIS_MODELS_DIR=models),
        capture_output=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (1, b"Error: No space left on device\n")


@pytest.mark.parametrize("arguments", ["--help", "ner --help", "models"])
def test_a_reader_that_left_is_no_error(program, models, arguments):
    read, write = os.pipe()
    os.close(read)
    result = subprocess.run(
        [program, *arguments.split()],
        env=environment(TRELLIS_MODELS_DIR=models),
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert (result.returncode, result.stderr) == (141, b"")


def test_help_needs_nothing_that_is_slow_to_import():
    program = "import sys; from service.cli import main; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, check=True
    )
    slow = {"numpy", "pydantic", "flask", "requests", "gunicorn"}
    assert not slow & set(result.stdout.decode().split())


@pytest.mark.parametrize(("name", "line"), EXAMPLES, ids=[line for _, line in EXAMPLES])
def test_an_example_is_a_right_use(name, line, folder, monkeypatch):
    monkeypatch.chdir(folder)
    words = shlex.split(line.partition("trellis ")[2].partition(" > ")[0].removesuffix(')"'))
    assert words.pop(0) == name
    main.commands[name].make_context(name, words, parent=click.Context(main))


@pytest.mark.parametrize(
    "line",
    [line for name, line in EXAMPLES if name in RUN and not line.startswith("eval")],
    ids=lambda line: line,
)
def test_an_example_works(line, folder, program, models):
    line = line.replace("en-pos-hmm", "en-pos-made").replace("en-ner-crf", "en-ner-made")
    line = line.replace("~/.local/share", "home").replace("~/.config", "home")
    path = f"{program.parent}:/usr/bin:/bin"
    result = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", line],
        cwd=folder,
        env=environment(PATH=path, TRELLIS_MODELS_DIR=models),
        capture_output=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, b"")
    if " > " in line:
        assert (folder / line.rpartition(" > ")[2]).stat().st_size > 0
    else:
        assert result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nre"], "Did you mean 'ner'?"),
        (["ner", "--fromat", "json"], "--format"),
        (["completion", "tcsh"], "is not one of 'bash', 'zsh', 'fish'"),
        (["serve", "--port", "70000"], "70000 is not in the range 0<=x<=65535"),
    ],
)
def test_a_wrong_use_has_its_own_exit_code_and_a_hint(trellis, arguments, said):
    result = trellis(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_setting_that_cannot_be_used_is_told(trellis, monkeypatch):
    monkeypatch.setenv("TRELLIS_PORT", "http")
    result = trellis("models")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: TRELLIS_PORT: ")


def test_a_folder_of_models_that_is_not_there_is_told(trellis, monkeypatch, tmp_path):
    monkeypatch.setenv("TRELLIS_MODELS_DIR", str(tmp_path / "nowhere"))
    result = trellis("ner", stdin="Jane")
    assert result.exit_code == 1
    assert "nowhere: there is no such folder of models; --models" in result.stderr
