"""Words and tags in columns: read again they are the same, and CoNLL-U keeps the whole text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.columns import conllu, tab_separated
from service.text.conll import (
    TaggedSentence,
    read_columns,
    read_conllu,
    words_of_columns,
    words_of_conllu,
)
from service.text.tokenizer import Tokenizer
from service.text.tokens import Tokens

UNESCAPED = {"s": " ", "t": "\t", "n": "\n", "r": "\r", "p": "|", "\\": "\\"}
TOKENIZER = Tokenizer()
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1)
SENTENCES = st.lists(st.lists(WORDS.filter(lambda word: not word.isspace())), min_size=1)


def unescaped(value: str) -> str:
    return re.sub(r"\\(.)", lambda match: UNESCAPED[match[1]], value)


def attributes(misc: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in misc.split("|")) if misc != "_" else {}


def text_of(document: str) -> str:
    """The text that a CoNLL-U document was made of, by its words and what MISC says of blanks."""
    text = ""
    for line in document.split("\n"):
        if line and not line.startswith("#"):
            fields = line.split("\t")
            spaces = attributes(fields[9])
            text += unescaped(spaces.get("SpacesBefore", "")) + fields[1]
            after = "" if spaces.get("SpaceAfter") == "No" else " "
            text += unescaped(spaces.get("SpacesAfter", after))
    return text


def test_two_columns() -> None:
    tokens = Tokens.from_sentences([["Jane", "left"], [], ["Yes"]])
    assert tab_separated(tokens, ["B", "O", "O"]) == "Jane\tB\nleft\tO\n\nYes\tO\n\n"


def test_conllu() -> None:
    tokens = TOKENIZER.tokenize(text := " Jane  left,\r\nYes.")
    assert conllu(tokens, list("abcde"), text, "misc").split("\n") == [
        "# sent_id = 1",
        "# text = Jane left, Yes.",
        "1\tJane\t_\t_\t_\t_\t_\t_\t_\tNE=a|SpacesBefore=\\s|SpacesAfter=\\s\\s",
        "2\tleft\t_\t_\t_\t_\t_\t_\t_\tNE=b|SpaceAfter=No",
        "3\t,\t_\t_\t_\t_\t_\t_\t_\tNE=c|SpacesAfter=\\r\\n",
        "4\tYes\t_\t_\t_\t_\t_\t_\t_\tNE=d|SpaceAfter=No",
        "5\t.\t_\t_\t_\t_\t_\t_\t_\tNE=e|SpaceAfter=No",
        "",
        "",
    ]


@pytest.mark.parametrize(("column", "place"), [("upos", 3), ("xpos", 4)])
def test_parts_of_speech_stand_in_their_column(column, place) -> None:
    fields = conllu(Tokens.from_sentences([["a"]]), ["X"], None, column).split("\n")[2].split("\t")
    assert fields == ["1", "a", *["X" if i == place else "_" for i in range(2, 10)]]


def test_words_without_a_text_are_parted_by_a_blank() -> None:
    document = conllu(Tokens.from_sentences([["a", ","], ["b"]]), list("XYZ"), None, "xpos")
    assert re.findall("# text = (.*)", document) == ["a ,", "b"]


def test_nothing_to_write() -> None:
    for tokens in (TOKENIZER.tokenize(" \n"), Tokens.from_sentences([[], []])):
        assert tab_separated(tokens, []) == conllu(tokens, [], " \n", "misc") == ""


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(" \n\r\t|\\._-,")))
def test_conllu_keeps_the_text_and_its_sentences(text: str) -> None:
    tokens = TOKENIZER.tokenize(text)
    document = conllu(tokens, ["T"] * len(tokens.words), text, "misc")
    assert text_of(document) == (text if tokens.words else "")
    for block in document.split("\n\n")[:-1]:
        # what the format asks of `# text`: the words, a blank after each unless SpaceAfter=No
        _, comment, *rows = block.split("\n")
        fields = [row.split("\t") for row in rows]
        joined = [row[1] + " " * (attributes(row[9]).get("SpaceAfter") != "No") for row in fields]
        assert comment == "# text = " + "".join(joined).removesuffix(" ")
        assert [row[0] for row in fields] == [str(i + 1) for i in range(len(rows))]


@given(SENTENCES)
def test_what_is_written_is_read_again(sentences: list[list[str]]) -> None:
    tokens = Tokens.from_sentences(sentences)
    tags = [f"T{i}" for i in range(len(tokens.words))]
    there = [tuple(words) for words in sentences if words]
    assert words_of_columns(tab_separated(tokens, tags).encode()) == there
    for column in ("upos", "misc"):
        assert words_of_conllu(conllu(tokens, tags, None, column).encode()) == there


def test_files_of_corpora_are_read_as_they_are_written(tmp_path) -> None:
    tokens = Tokens.from_sentences([["Jane", "left"], ["Yes"]])
    expected = [TaggedSentence(("Jane", "left"), ("N", "V")), TaggedSentence(("Yes",), ("I",))]
    (tmp_path / "columns").write_text(tab_separated(tokens, ["N", "V", "I"]))
    assert read_columns(tmp_path / "columns") == expected
    (tmp_path / "conllu").write_text(conllu(tokens, ["N", "V", "I"], None, "upos"))
    assert read_conllu(tmp_path / "conllu", "upos") == expected
