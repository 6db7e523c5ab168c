"""`trellis tag` and `trellis ner`: what they write, and how they fail."""

import json
import os
import pty
import signal
import subprocess

import pytest

from service.api.app import create_app
from service.api.schemas import TAGSETS
from service.cli.annotation import tag
from service.config import Settings
from service.store.registry import Registry
from service.text.conll import read_columns
from tests.unit.cli.conftest import environment, in_terminal

TEXT = "Jane Novak went to Paris. the end"
HOSTILE = [
    "",
    " \t\r\n\u2028 ",
    "Jane\r\nNovak\r\n\r\nParis",
    "📷 Jane 𐤀𐤁 Novak 👩\u200d👩\u200d👧 Paris",
    "e\u0301cole Jane",
    "\x1b[31mJane\x1b[0m NUL \x00 Paris \x85 Jane \x9b",
    "\ufeffJane\ufeff Paris",
    "مرحبا Jane 我来到 Paris",
    "Jane " * 3000,
    "contact" * 800,
]


@pytest.fixture
def letter(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text(TEXT)
    return path


def test_entities_stand_in_brackets_behind_their_label(trellis, letter):
    result = trellis("ner", letter)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "[PER Jane Novak] went to [LOC Paris]. the end\n"


def test_words_stand_before_their_tags_a_sentence_a_line(trellis, letter):
    result = trellis("tag", letter)
    assert result.exit_code == 0
    words = "Jane/NN Novak/NN went/NN to/NN Paris/NN ./NN\nthe/DT end/NN\n"
    assert result.stdout == words
    assert "the/DET" in trellis("tag", "--tagset", "ud", letter).stdout


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_without_a_file_standard_input_is_read(trellis, arguments):
    assert trellis("ner", *arguments, stdin="in Paris\n").stdout == "in [LOC Paris]\n"


def test_a_piped_text_keeps_every_character_but_for_the_brackets(trellis):
    text = "a\t b\r\n\x1b[31mJane\x1b[0m  \u2028\x9b\n\n"
    assert trellis("ner", stdin=text.encode()).stdout_bytes == text.encode()


def test_columns_are_those_that_training_reads(trellis, letter, tmp_path):
    columns = tmp_path / "letter.conll"
    columns.write_bytes(trellis("ner", "--format", "conll", letter).stdout_bytes)
    first, second = read_columns(columns)
    assert first.words == ("Jane", "Novak", "went", "to", "Paris", ".")
    assert first.tags == ("B-PER", "I-PER", "O", "O", "B-LOC", "O")
    assert second.words == ("the", "end")


@pytest.mark.parametrize("task", ["ner", "tag"])
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:20]))
def test_json_is_the_answer_of_the_server_with_offsets_of_the_file(
    trellis, models, tmp_path, task, text
):
    path = tmp_path / "hostile.txt"
    path.write_bytes(text.encode())
    answer = json.loads(trellis(task, "--format", "json", path).stdout)
    assert answer.pop("file") == str(path)
    for place in (*answer["tokens"], *answer.get("spans", ())):
        assert text[place["start"] : place["end"]] == place["text"]
    if not text.startswith("\ufeff"):  # a mark of files, which is no word of theirs
        settings = Settings(models_dir=models)
        client = create_app(settings, Registry.open(settings)).test_client()
        assert client.post(f"/{task}", json={"text": text}).get_json() == answer


def test_a_byte_order_mark_is_no_word(trellis):
    [line] = trellis("ner", "--format", "json", stdin="\ufeffJane".encode()).stdout.splitlines()
    [span] = json.loads(line)["spans"]
    assert (span["text"], span["start"], span["end"]) == ("Jane", 1, 5)


def test_each_file_is_a_document(trellis, letter, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("Paris")
    lines = trellis("ner", "--format", "json", letter, other).stdout.splitlines()
    assert [json.loads(line)["file"] for line in lines] == [str(letter), str(other)]
    assert [len(json.loads(line)["spans"]) for line in lines] == [2, 1]


def test_words_that_are_split_already_stay_so(trellis):
    text = "Jane's\tNovak.\n\n  \nParis ,\r\n"
    answer = json.loads(trellis("ner", "--tokens", "--format", "json", stdin=text).stdout)
    assert [token["text"] for token in answer["tokens"]] == ["Jane's", "Novak.", "Paris", ","]
    assert [s["token_end"] for s in answer["sentences"]] == [2, 4]
    assert all(text[t["start"] : t["end"]] == t["text"] for t in answer["tokens"])
    shown = text.replace("Paris", "[LOC Paris]").encode()
    assert trellis("ner", "--tokens", stdin=text).stdout_bytes == shown
    assert trellis("tag", "--tokens", stdin=" \n").stdout == ""


def test_the_model_is_the_one_that_a_server_takes_by_default(trellis, monkeypatch):
    def model():
        return json.loads(trellis("ner", "--format", "json", stdin="x").stdout)["model"]["name"]

    assert model() == "en-ner-made"
    monkeypatch.setenv("TRELLIS_MODELS", "en-ner-other,en-ner-made")
    assert model() == "en-ner-other"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["ner", "nowhere.txt"], 2, "'nowhere.txt' does not exist"),
        (["ner", "{models}"], 2, "is a directory"),
        (["ner", "--model", "en-ner-mad"], 1, "there are: en-ner-made, en-ner-other"),
        (["ner", "--model", ""], 1, "there is no model '' in"),
        (["ner", "--model", "en-pos-made"], 2, "en-pos-made is a model for `trellis tag`"),
        (["tag", "--model", "en-pos-made", "--tagset", "ud"], 2, "has the tagset ptb"),
        (["tag", "--tagset", "penn"], 2, "'penn' is not one of 'ptb', 'ud'"),
        (["ner", "--modle", "x"], 2, "--model"),
        (["ner", "--models", "{file}"], 2, "is a file"),
        (["ner", "{file}"], 1, "latin.txt: not UTF-8 at byte 3"),
    ],
)
def test_a_wrong_use_is_told(trellis, models, tmp_path, arguments, code, said):
    file = tmp_path / "latin.txt"
    file.write_bytes(b"caf\xe9")
    result = trellis(*(each.format(models=models, file=file) for each in arguments))
    assert result.exit_code == code
    assert said in " ".join(result.stderr.split())
    assert "Traceback" not in result.output


def test_no_default_model_is_told(trellis, monkeypatch):
    monkeypatch.setenv("TRELLIS_MODELS", "en-ner-made")
    result = trellis("tag", stdin="x")
    assert result.exit_code == 1
    assert "by default; there are: en-pos-made, en-upos-made" in result.stderr


@pytest.mark.parametrize("text", ["é" * 11, "a" * 50])
def test_a_text_over_the_limit_is_refused_as_the_server_does(trellis, monkeypatch, text):
    monkeypatch.setenv("TRELLIS_MAX_TEXT_CHARS", "10")
    result = trellis("ner", stdin=text)
    assert result.exit_code == 1
    limit = "is over the limit of 10 characters (TRELLIS_MAX_TEXT_CHARS)"
    assert result.stderr == f"Error: standard input {limit}\n"
    assert trellis("ner", stdin="é" * 10).exit_code == 0


def test_the_tagsets_are_those_of_the_server():
    [option] = [each for each in tag.params if each.name == "tagset"]
    assert tuple(option.type.choices) == TAGSETS


def test_a_terminal_shows_entities_in_colour(program, models, letter):
    code, written = in_terminal([program, "ner", "--models", models, letter])
    assert code == 0
    assert "\x1b[30m\x1b[46m[LOC Paris]\x1b[0m" in written
    assert "[PER Jane Novak]" in written
    assert "\x1b[46m[PER" not in written


@pytest.mark.parametrize("command", [["ner"], ["tag"], ["ner", "--format", "json"]])
def test_no_colour_where_none_is_wanted(program, models, letter, command):
    arguments = [program, *command, "--models", models, letter]
    code, written = in_terminal(arguments, NO_COLOR=1)
    assert code == 0
    assert "\x1b" not in written
    piped = subprocess.run(arguments, env=environment(), capture_output=True, check=True)
    assert piped.stdout.decode() == written


def test_colour_where_it_is_forced(trellis, letter, monkeypatch):
    assert "\x1b" not in trellis("tag", letter).stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "the\x1b[36m/DT\x1b[0m" in trellis("tag", letter).stdout


@pytest.mark.parametrize("form", ["text", "json", "conll"])
@pytest.mark.parametrize("command", [["ner"], ["tag"], ["tag", "--tokens"]])
def test_a_text_cannot_steer_the_terminal(program, models, tmp_path, command, form):
    hostile = tmp_path / "hostile.txt"
    hostile.write_bytes("Jane \x1b[2J \x9b2J \x07 a\rb\r\nthe\x7f".encode())
    arguments = [program, *command, "--format", form, "--models", models, hostile]
    _, written = in_terminal(arguments, NO_COLOR=1)
    assert not {"\x1b", "\x9b", "\x07", "\r", "\x7f"} & set(written)
    assert {"␡", "\ufffd"} <= set(written)
    assert ("\\u001b" if form == "json" else "␛") in written


def test_a_file_may_have_any_name(trellis, tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.txt"
    with open(path, "wb") as file:
        file.write(b"Jane")
    answer = json.loads(trellis("ner", "--format", "json", os.fsdecode(path)).stdout)
    assert answer["file"] == f"{tmp_path}/\ufffd.txt"


@pytest.mark.parametrize(
    ("redirected", "said"),
    [
        ("<&-", "standard input is closed"),
        ("/proc/self/mem", "/proc/self/mem: Input/output error"),
        ("</dev/null -- {file} >/dev/full", "No space left"),
    ],
)
def test_streams_that_cannot_be_used_are_told(program, models, letter, redirected, said):
    command = f"{program} ner --models {models} {redirected.format(file=letter)}"
    result = subprocess.run(
        ["sh", "-c", command], env=environment(), capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    [line] = result.stderr.splitlines()
    assert said in line


def test_a_reader_that_leaves_ends_it_quietly_and_as_shells_have_it(program, models, tmp_path):
    long = tmp_path / "long.txt"
    long.write_text("Jane went to Paris. " * 20_000)
    process = subprocess.Popen(
        [program, "ner", "--models", models, long],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    _, errors = process.communicate()
    assert errors == b""
    assert process.returncode == 141


def test_ctrl_c_ends_it_with_its_own_exit_code(program, models):
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [program, "ner", "--models", models],
        env=environment(),
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert b"Ctrl-D" in process.stderr.readline()  # it reads now
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    for end in (master, slave):
        os.close(end)
    assert process.returncode == 130
    assert errors == b"\n"
