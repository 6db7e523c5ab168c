import pytest

from service.errors import CorpusError
from service.text.conll import TaggedSentence, read_columns, read_conllu

CONLLU = """\
# sent_id = 1
# text = He can't.
1\tHe\the\tPRON\tPRP\t_\t3\tnsubj\t_\t_
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\tca\tcan\tAUX\tMD\t_\t3\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t0\troot\t_\t_
3.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t_\t_
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

# text = Yes
1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_
"""


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "corpus"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_conllu_gives_the_words_with_integer_ids(write):
    xpos = read_conllu(write(CONLLU), "xpos")
    assert xpos == [
        TaggedSentence(("He", "ca", "n't", "."), ("PRP", "MD", "RB", ".")),
        TaggedSentence(("Yes",), ("UH",)),
    ]
    assert read_conllu(write(CONLLU), "upos")[0].tags == ("PRON", "AUX", "PART", "PUNCT")


@pytest.mark.parametrize(
    "content",
    [
        "Jane\tB-PER\nran\tO\n\nYes\tO\n",
        "Jane\tB-PER\nran\tO\n\nYes\tO",  # no line break at the end
        "\n\nJane\tB-PER\nran\tO\n\n\n\nYes\tO\n\n\n",  # blank lines wherever
        "-DOCSTART- -X- -X- O\n\nJane NNP B B-PER\nran VBD B O\n\nYes UH B O\n",  # CoNLL-2003
        "Jane\tB-PER\r\nran\tO\r\n\r\nYes\tO\r\n",
        "\ufeffJane\tB-PER\nran\tO\n \t\nYes\tO\n",
        "Jane B-PER\nran O\n\nYes O\n",
        "Jane\tNNP\tB-PER\nran\tVBD\tO\n\nYes\tUH\tO\n",
    ],
)
def test_columns_give_first_column_and_last(write, content):
    assert read_columns(write(content)) == [
        TaggedSentence(("Jane", "ran"), ("B-PER", "O")),
        TaggedSentence(("Yes",), ("O",)),
    ]


@pytest.mark.parametrize("odd", ["\x0b", "\x85", "\u2028", "\x0c", "\x1e", "\r"])
def test_a_line_ends_at_a_line_feed_only(write, odd):
    [sentence] = read_columns(write(f"a{odd}b\tO\nc d\tO\n"))
    assert sentence.words == (f"a{odd}b", "c d")


def test_an_empty_file_holds_no_sentence(write):
    assert read_columns(write("")) == []
    assert read_conllu(write("# only a comment\n"), "upos") == []


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("a\tO\n\nb\n", 3),
        ("\tO\n", 1),
        ("a\t\n", 1),
        ("a\tO\n \u3000\tO\n", 2),
        (b"a\tO\n\xff\tO\n", 2),
    ],
)
def test_a_malformed_line_is_named(write, content, line):
    path = write(content)
    with pytest.raises(CorpusError, match=f"{path}:{line}: ") as caught:
        read_columns(path)
    assert caught.value.line == line


def test_a_conllu_line_without_ten_columns_is_named(write):
    with pytest.raises(CorpusError, match="2: expected 10 columns, found 2"):
        read_conllu(write("# text = a\n1\ta\n"), "upos")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CorpusError, match="nowhere"):
        read_columns(tmp_path / "nowhere")
