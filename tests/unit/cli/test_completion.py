"""`trellis completion`: scripts for shells, and what these then ask for."""

import shutil
import subprocess

import pytest

from tests.unit.cli.conftest import environment


@pytest.fixture
def completed(program, models):
    """What bash is told about the last word of a line."""

    def ask(line, **variables):
        result = subprocess.run(
            [program],
            env=environment(
                _TRELLIS_COMPLETE="bash_complete",
                COMP_WORDS=line,
                COMP_CWORD=line.count(" "),
                **variables,
            ),
            capture_output=True,
            text=True,
            check=True,
        )
        return [row.partition(",")[2] for row in result.stdout.split()]

    return ask


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_asks_the_program(trellis, shell):
    result = trellis("completion", shell)
    assert result.exit_code == 0
    assert f"_TRELLIS_COMPLETE={shell}_complete" in result.stdout
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=result.stdout, text=True, check=True)


def test_bash_completes_by_the_script(program, models):
    """As bash does: it sets the words, calls the function that is registered, and reads it."""
    script = """
        eval "$(trellis completion bash)"
        complete -p trellis | grep -q _trellis_completion
        COMP_WORDS=(trellis ner --model en-ner-m) COMP_CWORD=3
        _trellis_completion trellis en-ner-m --model
        echo "${COMPREPLY[@]}"
    """
    path = f"{program.parent}:/usr/bin:/bin"
    result = subprocess.run(
        ["bash", "-c", script],
        env=environment(PATH=path, TRELLIS_MODELS_DIR=models),
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == "en-ner-made\n"


def test_names_of_models_of_the_task_are_completed(completed, models, tmp_path):
    line = f"trellis ner --models {models} --model "
    assert completed(line) == ["en-ner-made", "en-ner-other"]
    assert completed(f"{line}en-ner-o") == ["en-ner-other"]
    assert completed("trellis tag --model en-p", TRELLIS_MODELS_DIR=models) == ["en-pos-made"]
    assert completed("trellis tag --model ", TRELLIS_MODELS_DIR=tmp_path / "nowhere") == []


def test_commands_and_choices_are_completed(completed):
    assert completed("trellis ev") == ["evaluate"]
    assert completed("trellis tag --format c") == ["conll"]
