import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.spans import Span, repair, spans_of_path, spans_of_tags, split_tag

LABELS = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG")
tag_lists = st.lists(st.sampled_from(LABELS), max_size=12)


def is_strict(tags):
    pairs = itertools.pairwise(["O", *tags])
    return all(tag[0] != "I" or before[2:] == tag[2:] for before, tag in pairs)


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("O O", []),
        ("B-PER", [("PER", 0, 1)]),
        ("B-PER I-PER O B-ORG", [("PER", 0, 2), ("ORG", 3, 4)]),
        ("B-PER B-PER I-PER", [("PER", 0, 1), ("PER", 1, 3)]),
        # ill-formed, read as conlleval reads it
        ("I-PER I-PER", [("PER", 0, 2)]),
        ("O I-PER", [("PER", 1, 2)]),
        ("B-PER I-ORG I-ORG", [("PER", 0, 1), ("ORG", 1, 3)]),
        ("I-PER I-ORG I-PER", [("PER", 0, 1), ("ORG", 1, 2), ("PER", 2, 3)]),
        # labels named like tags
        ("B-B-O I-B-O I-O", [("B-O", 0, 2), ("O", 2, 3)]),
    ],
)
def test_tags_read_as_spans(tags, spans):
    assert spans_of_tags(tags.split()) == [Span(*span) for span in spans]


def test_no_tags_have_no_spans():
    assert spans_of_tags([]) == []


@given(tag_lists)
def test_repaired_tags_are_strict_and_strict_tags_stay(tags):
    repaired = repair(tags)
    assert is_strict(repaired)
    assert repair(repaired) == repaired
    if is_strict(tags):
        assert repaired == tags


@given(tag_lists)
def test_spans_and_strict_tags_say_the_same(tags):
    written = ["O"] * len(tags)
    for span in spans_of_tags(tags):
        written[span.token_start] = f"B-{span.label}"
        for i in range(span.token_start + 1, span.token_end):
            written[i] = f"I-{span.label}"
    assert written == repair(tags)


@given(st.lists(tag_lists, max_size=4))
def test_sentences_in_one_path_keep_their_spans_apart(sentences):
    strict = [repair(tags) for tags in sentences]
    path = np.array([LABELS.index(tag) for tags in strict for tag in tags], dtype=np.int64)
    firsts = np.cumsum([0, *(len(tags) for tags in strict)]).tolist()
    expected = [
        span.shifted(first)
        for first, tags in zip(firsts, strict, strict=False)
        for span in spans_of_tags(tags)
    ]
    assert spans_of_path(path, LABELS) == expected


@pytest.mark.parametrize("tag", ["", "B", "I-", "B-", "PER", "E-PER", "S-PER", "o", "b-PER"])
def test_what_is_no_bio_tag_is_refused_by_name(tag):
    with pytest.raises(ValueError, match="no BIO tag"):
        split_tag(tag)
