import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.features import (
    BOUNDARY,
    OFFSETS,
    WordClusters,
    features_at,
    pair_feature,
    word_features,
)


def seen(offset, word, **kinds):
    return list(features_at(offset, word_features(word, **kinds)))


def own(word, **kinds):
    return seen(0, word, **kinds)


@given(st.text(min_size=1))
def test_features_are_distinct_and_say_their_offset(word):
    for offset in OFFSETS:
        names = seen(offset, word)
        assert len(set(names)) == len(names)
        assert all(name.startswith(f"{offset}:") for name in names)


def test_a_word_tells_less_from_farther_away():
    kinds = [{name.partition(":")[2] for name in seen(offset, "Bank")} for offset in OFFSETS]
    assert kinds[0] == kinds[4] < kinds[1] == kinds[3] < kinds[2]
    assert "lower=bank" in kinds[0]


def test_a_name_is_read_by_what_an_hmm_cannot_see():
    assert {
        "0:word=Villanueva",
        "0:lower=villanueva",
        "0:shape=Xxxxxxxxxx",
        "0:runs=Xx",
        "0:prefix2=vi",
        "0:suffix3=eva",
        "0:suffix3=eva|Xx",
    } <= set(own("Villanueva"))


@pytest.mark.parametrize(
    ("word", "feature"),
    [
        ("well-bred", "0:hyphen"),
        ("1980s", "0:digit"),
        ("--", "0:symbol"),
        ("NASA", "0:upper"),
        ("L'Occitane", "0:runs=X'Xx"),
        ("5.975,74", "0:runs=d.d,d"),
    ],
)
def test_what_characters_a_word_holds_is_a_feature(word, feature):
    assert feature in own(word)


def test_the_boundary_is_a_word_of_its_own():
    assert [seen(offset, BOUNDARY) for offset in OFFSETS] == [[f"{o}:boundary"] for o in OFFSETS]


def test_clusters_are_those_of_the_word_in_lower_case():
    clusters = WordClusters({"york": 0}, np.array([[3, 17]]))
    assert {"0:cluster0=3", "0:cluster1=17|X"} <= set(own("YORK", clusters=clusters))
    assert not [name for name in own("Leeds", clusters=clusters) if "cluster" in name]


def test_an_ambiguity_class_is_that_of_the_word_as_written_then_in_lower_case():
    classes = {"May": "MD|NNP", "may": "MD!"}
    assert "0:tags=MD|NNP" in own("May", classes=classes)
    assert "0:tags=MD!" in own("may", classes=classes)
    assert "0:tags=MD!" in own("MAY", classes=classes)
    assert "-1:tags=MD!" in seen(-1, "may", classes=classes)
    assert not [name for name in seen(2, "may", classes=classes) if "tags" in name]
    assert not [name for name in own("june", classes=classes) if "tags" in name]


def test_no_feature_grows_with_the_length_of_a_word():
    assert max(map(len, own("x1" * 50_000))) < 100


def test_a_pair_is_named_after_both_its_words():
    assert pair_feature("new", "york") == "pair=new york"
