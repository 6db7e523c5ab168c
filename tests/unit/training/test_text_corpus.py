"""Reading unlabelled text: each sentence once, from any of the formats, and again from a folder."""

import lzma
from itertools import pairwise

import numpy as np
import pytest

from service.errors import CorpusError
from service.text.spelling import BOUNDARY
from service.training.text_corpus import read_corpus

TEXT = "It rained. It rained.\n\nIt was\ncold.\n"


@pytest.fixture
def texts(tmp_path):
    (tmp_path / "a.txt").write_text(TEXT)
    with lzma.open(tmp_path / "b.txt.xz", "wt") as file:
        file.write("It rained. We stayed.\n")
    (tmp_path / "c.tsv").write_text("We\tO\nlaughed\tO\n\nIt\tO\nrained\tO\n.\tO\n\n")
    return [
        ("text", [tmp_path / "a.txt", tmp_path / "b.txt.xz"]),
        ("columns", [tmp_path / "c.tsv"]),
    ]


def sentences(corpus):
    words = [corpus.types[i] for i in corpus.ids.tolist()]
    return [words[first:end] for first, end in pairwise(corpus.offsets.tolist())]


def test_each_sentence_is_read_once_and_begins_with_a_boundary(texts):
    corpus = read_corpus(texts, None)
    assert sentences(corpus) == [
        [BOUNDARY, "It", "rained", "."],
        [BOUNDARY, "It", "was"],
        [BOUNDARY, "cold", "."],
        [BOUNDARY, "We", "stayed", "."],
        [BOUNDARY, "We", "laughed"],
    ]
    assert corpus.sources.tolist() == [0, 0, 0, 0, 1]
    assert len(set(corpus.types)) == len(corpus.types)


def test_what_was_kept_is_the_same_and_needs_no_file(texts, tmp_path):
    read = read_corpus(texts, tmp_path)
    for _, files in texts:
        for file in files:
            file.unlink()
    kept = read_corpus(texts, tmp_path)
    assert kept.types == read.types
    for name in ("ids", "offsets", "sources"):
        assert np.array_equal(getattr(kept, name), getattr(read, name))


def test_what_was_kept_of_other_texts_is_not_taken(texts, tmp_path):
    read_corpus(texts, tmp_path)
    assert len(sentences(read_corpus(texts[1:], tmp_path))) == 2
    assert len(sentences(read_corpus(texts, tmp_path))) == 5


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.txt", None, "No such file"),
        ("a.txt", b"\xff\xfe\xff", "no UTF-8"),
        ("a.txt.xz", b"no xz", "Input format not supported"),
        ("a.txt.xz", lzma.compress(b"some text " * 100)[:-20], "ended before"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(name, content, said, tmp_path):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError, match=said) as raised:
        read_corpus([("text", [tmp_path / name])], None)
    assert name in str(raised.value)
