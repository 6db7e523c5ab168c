"""Where sentences end."""

from itertools import pairwise

import pytest

from service.text.tokenizer import Tokenizer


def sentences(text: str) -> list[str]:
    tokens = Tokenizer().tokenize(text)
    bounds = pairwise(tokens.sentence_offsets.tolist())
    return [" ".join(tokens.words[first:last]) for first, last in bounds]


@pytest.mark.parametrize("mark", [".", "?", "!", "?!", "!!!", "…"])
def test_terminal_punctuation_ends_a_sentence(mark: str) -> None:
    assert sentences(f"It rains{mark} We stay.") == [f"It rains {mark}", "We stay ."]


def test_the_next_sentence_may_begin_in_lower_case_but_not_after_an_ellipsis() -> None:
    assert sentences("it rains. we stay") == ["it rains .", "we stay"]
    assert sentences("it rains... we stay") == ["it rains ... we stay"]


def test_closing_quotes_and_brackets_belong_to_the_sentence_before() -> None:
    assert sentences('He said "Go." She went. (It rained.) Then')[:2] == [
        'He said " Go . "',
        "She went .",
    ]
    assert sentences("(It rained.) Then it stopped.") == ["( It rained . )", "Then it stopped ."]


def test_a_quoted_question_goes_on_in_lower_case_only() -> None:
    assert sentences('"Why?" he said. "Why?" He left.') == [
        '" Why ? " he said .',
        '" Why ? "',
        "He left .",
    ]


def test_what_hangs_ends_a_sentence_as_the_word_does_that_it_hangs_on() -> None:
    assert sentences("cats, etc. :) Dogs bark") == ["cats , etc. :) Dogs bark"]
    assert sentences("cats, etc. :) They bark") == ["cats , etc. :)", "They bark"]
    assert sentences("(cats) :) Dogs bark") == ["( cats ) :)", "Dogs bark"]
    assert sentences("cats :) ) Dogs bark") == ["cats :) ) Dogs bark"]


def test_what_hangs_on_nothing_ends_a_sentence_by_itself() -> None:
    assert sentences(":) ) Dogs bark") == [":) )", "Dogs bark"]


def test_an_opening_quote_belongs_to_the_sentence_after() -> None:
    assert sentences('She went. "Stay!" they cried.') == ["She went .", '" Stay ! " they cried .']


def test_an_emoticon_and_a_note_number_belong_to_the_sentence_before() -> None:
    assert sentences("It works. :) See you.") == ["It works . :)", "See you ."]
    assert sentences("He was born there. [12] Later he left.[3] He died.") == [
        "He was born there . [ 12 ]",
        "Later he left . [ 3 ]",
        "He died .",
    ]


def test_the_number_of_a_list_belongs_to_what_follows() -> None:
    assert sentences("1. Go home. 2. Eat.") == ["1 . Go home .", "2 . Eat ."]
    assert sentences("1.\n\nGo home.") == ["1 .", "Go home ."]


@pytest.mark.parametrize(
    "text",
    [
        "Mr. Smith met Dr. J. Doe of the U.S. Senate at 5 p.m. Monday, etc. and left.",
        "Bring fruit, e.g. The red apples.",
        "It uses .NET and costs 3.50 a day.",
        "Send it to first.last@example.org or see www.example.org/a.b today.",
    ],
)
def test_a_point_within_a_sentence_does_not_end_it(text: str) -> None:
    assert len(sentences(text)) == 1


def test_an_abbreviation_ends_a_sentence_before_a_word_that_often_begins_one() -> None:
    assert sentences("He moved to the U.S. He likes it.") == [
        "He moved to the U.S.",
        "He likes it .",
    ]


@pytest.mark.parametrize("gap", ["\n\n", "\r\n\r\n", "\n \t\n", "\r\r", "\n\n\n\n", "\u2028\u2028"])
def test_a_blank_line_always_ends_a_sentence(gap: str) -> None:
    assert sentences(f"a title{gap}and text") == ["a title", "and text"]


@pytest.mark.parametrize("gap", ["\n", "\r\n", "\r", "\t", "   ", " \r\n ", "\f", "\u2028"])
def test_one_line_break_is_a_blank(gap: str) -> None:
    assert sentences(f"I am a student named John{gap}Smith.") == [
        "I am a student named John Smith ."
    ]


def test_blank_lines_around_a_text_make_no_empty_sentence() -> None:
    assert sentences("\n\n\na\n\n\n\nb\n\n") == ["a", "b"]
    assert sentences("\n\r") == []
    assert sentences(". . .") == [". . ."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("你好。你呢？我很好！", ["你 好 。", "你 呢 ？", "我 很 好 ！"]),
        ("यह है। वह है।", ["यह है ।", "वह है ।"]),
        ("كيف حالك؟ أنا بخير.", ["كيف حالك ؟", "أنا بخير ."]),
    ],
)
def test_the_marks_of_other_scripts_end_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_a_book_without_punctuation_is_one_sentence() -> None:
    assert Tokenizer().tokenize("word " * 10_000).sentence_offsets.tolist() == [0, 10_000]
