import pytest

from service.errors import CorpusError
from service.text.conll import TaggedSentence
from service.training.raw_text import read_raw_text

HEAD = "# newdoc id = 1\n# newpar id = 1\n# sent_id = 1\n"
CANT = """\
# text = He can't.
1	He	he	PRON	PRP	_	3	nsubj	_	_
2-3	can't	_	_	_	_	_	_	_	SpaceAfter=No
2	ca	can	AUX	MD	_	3	aux	_	_
3	n't	not	PART	RB	_	0	root	_	_
3.1	go	go	VERB	VB	_	_	_	_	_
4	.	.	PUNCT	.	_	3	punct	_	{}
"""
OH = "# text = Oh  no\n1\tOh\t_\tINTJ\tUH\t_\t_\t_\t_\t_\n2-3\tno\t_\t_\t_\t_\t_\t_\t_\t{}\n"
OH += "2\tn\t_\tINTJ\tUH\t_\t_\t_\t_\tSpaceAfter=No\n3\to\t_\tINTJ\tUH\t_\t_\t_\t_\t_\n"


@pytest.fixture
def read(tmp_path):
    def read(content, tagged=None):
        path = tmp_path / "file.conllu"
        path.write_text(content, encoding="utf-8")
        return read_raw_text(path, "xpos", tagged)

    return read


def words(raw):
    return [raw.text[a:b] for a, b in zip(raw.starts, raw.ends, strict=True)]


def test_sentences_are_joined_by_a_blank(read):
    raw = read(HEAD + CANT.format("_") + "\n" + OH.format("_") + "\n")
    assert raw.text == "He can't. Oh  no"
    assert words(raw) == ["He", "ca", "n't", ".", "Oh", "n", "o"]
    assert raw.sentence_offsets.tolist() == [0, 4, 7]
    assert raw.tags == ["PRP", "MD", "RB", ".", "UH", "UH", "UH"]


def test_by_nothing_where_no_space_follows(read):
    assert read(CANT.format("SpaceAfter=No") + "\n" + OH.format("_")).text == "He can't.Oh  no"
    # of a multiword token the range says it, not its last word
    both = OH.format("SpaceAfter=No") + "\n" + CANT.format("_")
    assert read(both).text == "Oh  noHe can't."


@pytest.mark.parametrize("comment", ["# newpar", "# newdoc id = 2"])
def test_by_a_blank_line_before_a_paragraph(read, comment):
    text = read(CANT.format("SpaceAfter=No") + "\n" + comment + "\n" + OH.format("_")).text
    assert text == "He can't.\n\nOh  no"


def test_tags_may_come_from_elsewhere_and_other_sentences_are_left_out(read):
    words = ("Oh", "n", "o")
    tagged = [TaggedSentence(words, ("O", "B-X", "I-X")), TaggedSentence(words, ("O", "O", "O"))]
    raw = read("\n".join([CANT.format("_"), OH.format("_"), OH.format("_")]), tagged)
    assert raw.text == "Oh  no Oh  no"
    assert raw.tags == ["O", "B-X", "I-X", "O", "O", "O"]


@pytest.mark.parametrize(
    "content",
    [
        CANT.format("_").replace("# text = He can't.", "# text = She can't."),
        CANT.format("_").replace("# text = He can't.", "# text = He can't. Really"),
        CANT.format("_").replace("# text = He can't.\n", ""),
        "# text = a\n1\ta\n",
    ],
)
def test_words_that_do_not_make_up_the_text_are_refused(read, content):
    with pytest.raises(CorpusError, match=r"file\.conllu:\d+: "):
        read(content)
