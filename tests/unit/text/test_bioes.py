import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.bioes import bio_of, bioes_of
from service.text.spans import repair

TAGS = ["O", "B-A", "I-A", "B-B-O", "I-B-O"]


@given(st.lists(st.sampled_from(TAGS)))
def test_folding_gives_back_what_was_unfolded(tags):
    strict = repair(tags)
    assert list(map(bio_of, bioes_of(strict))) == strict


@pytest.mark.parametrize(
    ("bio", "bioes"),
    [
        ("", ""),
        ("O B-A O", "O S-A O"),
        ("B-A I-A", "B-A E-A"),
        ("B-A I-A I-A B-A", "B-A I-A E-A S-A"),
        ("B-A B-A I-A", "S-A B-A E-A"),
    ],
)
def test_the_last_token_of_a_span_is_told_from_the_others(bio, bioes):
    assert list(bioes_of(bio.split())) == bioes.split()


@pytest.mark.parametrize("tag", ["", "X", "S", "S-", "SA", "L-A", "o", "O-A"])
def test_what_is_no_bioes_tag_is_refused(tag):
    with pytest.raises(ValueError, match="no BIOES tag"):
        bio_of(tag)
