"""Offsets in three units: a slice in the unit of the answer is the text of the span."""

import numpy as np
import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.api.answers import unit_offsets

TEXTS = [
    "📷 .@MatthewDaddario",
    "i want 👞",
    "𐤀𐤁𐤂 of 𐤃𐤄 and Jane",
    "Hello my name is \u200c Chris Kamphuis",
    "caf\u00e9 Cafe\u0301 İstanbul",
    "I am a student named John\nSmith.",
    "a\r\n\x0b\x85\u2028  Bo",
    "👩‍👩‍👧 Jane 🇳🇱",
    "50 क्या आपके पास 北京大学 שלום Bo",
    "plain Jane",
]
CODECS = {"codepoint": ("utf-32-le", 4), "utf16": ("utf-16-le", 2), "utf8": ("utf-8", 1)}


def sliced(text: str, start: int, end: int, unit: str) -> str:
    """The slice as a client sees it whose strings are made of `unit`."""
    codec, width = CODECS[unit]
    return text.encode(codec)[start * width : end * width].decode(codec)


@pytest.mark.parametrize("unit", CODECS)
@pytest.mark.parametrize("text", TEXTS)
def test_slices_are_texts(client: FlaskClient, text: str, unit: str) -> None:
    answer = client.post("/ner", json={"text": text, "offset_unit": unit}).json
    assert answer["offset_unit"] == unit
    assert answer["spans"]
    for part in answer["tokens"] + answer["spans"]:
        assert sliced(text, part["start"], part["end"], unit) == part["text"]
    for part in answer["sentences"] + answer["spans"]:
        assert part["start"] == answer["tokens"][part["token_start"]]["start"]
        assert part["end"] == answer["tokens"][part["token_end"] - 1]["end"]


@pytest.mark.parametrize("unit", CODECS)
def test_a_blank_text_has_no_places(client: FlaskClient, unit: str) -> None:
    answer = client.post("/ner", json={"text": "\u3000\n", "offset_unit": unit}).json
    assert [answer[parts] for parts in ("tokens", "sentences", "spans")] == [[], [], []]


HOSTILE = st.text(
    st.characters(exclude_categories=["Cs"])  # which no JSON in UTF-8 can hold
    | st.sampled_from("\x00\r\n\x85\u2028\u200d\ufeff\u202é👩‍👩‍👧🇳🇱𐤃JaneUnited .,'")
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=HOSTILE)
def test_slices_of_hostile_texts_are_their_parts(client: FlaskClient, text: str) -> None:
    for unit in CODECS:
        answer = client.post("/ner", json={"text": text, "offset_unit": unit}).json
        assert "".join(token["text"] for token in answer["tokens"]) == "".join(text.split())
        for part in answer["tokens"] + answer["spans"]:
            assert sliced(text, part["start"], part["end"], unit) == part["text"]


@given(st.text(alphabet=st.characters()))  # lone surrogates too
def test_unit_offsets_are_lengths_of_prefixes(text: str) -> None:
    for unit in ("utf16", "utf8"):
        codec, width = CODECS[unit]
        table = unit_offsets(text, unit)
        expected = [
            len(text[:end].encode(codec, "surrogatepass")) // width for end in range(len(text) + 1)
        ]
        found = np.arange(len(text) + 1) if table is None else table
        assert found.tolist() == expected


def test_nothing_is_computed_for_code_points() -> None:
    assert unit_offsets("👞", "codepoint") is None
