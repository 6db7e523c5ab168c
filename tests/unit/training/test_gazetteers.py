import json

import pytest

from service.errors import CorpusError
from service.training.gazetteers import NameList, common_words, compile_gazetteers


@pytest.fixture
def data(tmp_path):
    (tmp_path / "cities.csv").write_text("id,name\n1,New York\n2,St. Louis\n3,Of\n4,The Place\n")
    (tmp_path / "firms.json").write_text(
        json.dumps([{"title": "Acme Widgets, Inc."}, {"title": "St. Louis"}])
    )
    (tmp_path / "by-key.json").write_text(json.dumps({"a": {"name": "Utopia"}}))
    (tmp_path / "names.txt").write_text("SMITH 1.0 1\nJOHNSON 0.8 2\nLI 0.1 3\n\nDOE 0 4\n")
    return tmp_path


def names(label, file, **more):
    kind = file.rpartition(".")[2].replace("txt", "words")
    return NameList(name="made", licence="", url="", label=label, file=file, format=kind, **more)


def compiled(data, *lists, skip=frozenset()):
    classes, phrases, members = compile_gazetteers(lists, data, skip)
    return {
        phrase: {c for i, c in enumerate(classes) if member >> i & 1}
        for phrase, member in zip(phrases, members, strict=True)
    }


def test_lists_are_read_tokenized_and_merged(data):
    found = compiled(
        data,
        names("city", "cities.csv", field="name"),
        names("firm", "firms.json", field="title"),
        names("land", "by-key.json", field="name"),
        skip=frozenset({"the", "place", "of"}),
    )
    assert found == {
        "New York": {"city"},
        "St. Louis": {"city", "firm"},
        "Acme Widgets , Inc.": {"firm"},
        "Acme Widgets": {"firm"},
        "Utopia": {"land"},
    }


def test_names_in_capitals_are_written_as_names_and_those_of_two_letters_left_out(data):
    assert set(compiled(data, names("surname", "names.txt", most=3))) == {"Smith", "Johnson"}


def test_words_that_stand_mostly_in_lower_case_are_common():
    sentences = [["The", "young", "man"], ["the", "Young", "family"], ["Young"], ["the"]]
    assert common_words(sentences) == {"the", "man", "family"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"file": "nowhere.csv", "field": "name"},
        {"file": "cities.csv", "field": "title"},
        {"file": "firms.json", "field": "name"},
        {"file": "firms.csv", "field": "name"},
    ],
)
def test_a_list_that_cannot_be_read_is_named(data, wrong):
    with pytest.raises(CorpusError, match=wrong["file"].replace(".", r"\.")):
        compiled(data, names("city", **wrong))
