"""The tokenizer: what its words are, and what holds of every text."""

import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, permutations
from string import ascii_letters

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text import tokenizer
from service.text.tokenizer import Tokenizer
from service.text.tokens import Tokens

STRINGS = (
    "n't 's http:// www. a@b.c Mr. U.S. etc. re- 10km -- cannot "  # what English rules look for
    "\u200b \u200c \u200d \ufeff \u00ad \u0301 \u0338 \0 \x7f \ud83d \udddd é e\u0301 İ ß ﬁ "
    "क्या की ا ؟ שָׁ 中 か カ\u3099 ー 각 ᄀ ， 。 ！ ？ । ไทย 𐤀 "
    "🇦 1\ufe0f\u20e3 👍 👍🏽 👩\u200d👩\u200d👧 ❤\ufe0f 🏽 \u20e3 \ufe0f 🏴\U000e0067\U000e007f"
)
SPACES = [*" \n\r\t\v\f\x1c\x85\xa0\u2028\u2029\u3000", "  ", "\r\n", "\n\n"]
VISIBLE = [*"aAbnstIx019.,:;!?'’\"-–_/\\@#&$%+=<>()[]{}^*~|`…", *STRINGS.split(" ")]
HOSTILE = VISIBLE + SPACES
texts = st.lists(st.sampled_from(HOSTILE), max_size=30).map("".join) | st.text(max_size=30)


def words(text: str) -> list[str]:
    return Tokenizer().tokenize(text).words


def spans(tokens: Tokens) -> list[tuple[int, int]]:
    assert tokens.starts is not None
    assert tokens.ends is not None
    return list(zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True))


def assert_sound(text: str, tokens: Tokens) -> None:
    """What holds of every text: words are slices, in order, and cover all that is visible."""
    places = spans(tokens)
    assert [text[start:end] for start, end in places] == tokens.words
    assert all(end <= start for (_, end), (start, _) in pairwise(places))
    assert all(word and not any(map(str.isspace, word)) for word in tokens.words)
    assert "".join(tokens.words) == "".join(text.split())
    offsets = tokens.sentence_offsets.tolist()
    assert offsets[0] == 0
    assert offsets[-1] == len(tokens.words)
    assert all(first < last for first, last in pairwise(offsets))


# What holds of every text


@given(texts)
def test_words_are_ordered_slices_that_cover_all_that_is_visible(text: str) -> None:
    assert_sound(text, Tokenizer().tokenize(text))


@given(st.lists(st.sampled_from(VISIBLE), max_size=8))
def test_a_word_never_begins_with_a_mark_that_belongs_to_the_word_before(parts: list[str]) -> None:
    tokens = Tokenizer().tokenize("a" + "".join(parts))
    marked = [word for word in tokens.words if unicodedata.category(word[0]) in ("Mn", "Me", "Mc")]
    assert marked == []


@given(texts)
def test_composed_and_decomposed_text_give_corresponding_words(text: str) -> None:
    composed = words(unicodedata.normalize("NFC", text))
    decomposed = words(unicodedata.normalize("NFD", text))
    assert [unicodedata.normalize("NFC", word) for word in decomposed] == composed


@given(st.lists(texts, max_size=5), st.sampled_from(SPACES))
def test_kinds_of_white_space_never_change_words(parts: list[str], space: str) -> None:
    text = space.join(parts)
    assert words(text) == words(" ".join(text.split()))


@given(texts, texts)
def test_a_line_break_never_changes_an_offset(before: str, after: str) -> None:
    with_blank = Tokenizer().tokenize(f"{before} {after}")
    with_break = Tokenizer().tokenize(f"{before}\n{after}")
    assert with_break.words == with_blank.words
    assert spans(with_break) == spans(with_blank)


@given(texts)
def test_a_blank_line_always_begins_a_sentence(text: str) -> None:
    tokens = Tokenizer().tokenize(text)
    gaps = [text[end:start] for (_, end), (start, _) in pairwise(spans(tokens))]
    after = {word for word, gap in enumerate(gaps, 1) if len(f"{gap}.".splitlines()) > 2}
    assert after <= set(tokens.sentence_offsets.tolist())


# A comma keeps such a word from the short cut that it takes alone.
@given(
    st.text(ascii_letters, min_size=1) | st.sampled_from(["cannot", "Gonna", "dunno", "etc", "I"])
)
def test_letters_alone_split_as_they_do_before_a_comma(letters: str) -> None:
    assert words(f"{letters},") == [*words(letters), ","]


def test_all_white_space_lies_within_the_table() -> None:
    spaces = [code for code in range(sys.maxunicode + 1) if chr(code).isspace()]
    table = tokenizer._VISIBLE.tolist()
    assert [code for code, visible in enumerate(table) if not visible] == spaces


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\r\n\t\v\x85\u2028\u3000"])
def test_a_blank_text_has_no_words_and_no_sentences(text: str) -> None:
    tokens = Tokenizer().tokenize(text)
    assert tokens.words == []
    assert spans(tokens) == []
    assert tokens.sentence_offsets.tolist() == [0]


# What is kept


@given(st.lists(texts, max_size=6), st.integers(1, 100))
def test_texts_are_split_alike_alone_and_together(parts: list[str], chars: int) -> None:
    one = Tokenizer()
    alone = [one.tokenize(text) for text in parts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokenizer, "_CHARS_AT_ONCE", chars)
        together = one.tokenize_all(parts)
    assert [tokens.words for tokens in together] == [tokens.words for tokens in alone]
    assert list(map(spans, together)) == list(map(spans, alone))
    sentences = [tokens.sentence_offsets.tolist() for tokens in together]
    assert sentences == [tokens.sentence_offsets.tolist() for tokens in alone]


@pytest.mark.parametrize("parts", list(permutations(["He left.", ":) Yes.", ') "No', "1.", ""])))
def test_a_sentence_never_reaches_from_one_text_into_the_next(parts: tuple[str, ...]) -> None:
    one = Tokenizer()
    together = [tokens.sentence_offsets.tolist() for tokens in one.tokenize_all(parts)]
    assert together == [one.tokenize(text).sentence_offsets.tolist() for text in parts]


def test_what_is_kept_never_changes_an_answer() -> None:
    texts = ["He can't, she said.", "a b c d e", "can't she? a.", "x " * 50, "long" * 40 + " a"] * 3
    none, tiny = Tokenizer(0), Tokenizer(2)
    for text in texts:
        assert tiny.tokenize(text).words == none.tokenize(text).words
        assert spans(tiny.tokenize(text)) == spans(none.tokenize(text))


def test_eight_threads_with_a_tiny_bound_give_the_answers_of_no_cache() -> None:
    texts = [f"word{i} isn't word{i % 7}-like, is it? U.S. №{i}" for i in range(40)] * 5
    tiny, none = Tokenizer(3), Tokenizer(0)
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(tiny.tokenize, texts))
    for text, tokens in zip(texts, answers, strict=True):
        expected = none.tokenize(text)
        assert tokens.words == expected.words
        assert spans(tokens) == spans(expected)
        assert tokens.sentence_offsets.tolist() == expected.sentence_offsets.tolist()


def test_no_more_is_kept_after_a_call_than_asked_for() -> None:
    bounded = Tokenizer(10)
    for text in ("a b c", " ".join(f"w{i}" for i in range(101)), "long" * 100, "中" * 200, "a"):
        bounded.tokenize(text)
        assert len(bounded._chunks) <= 10
        assert bounded._chunks.characters <= 10 * tokenizer._CHARS_A_CHUNK
    assert list(bounded._chunks) == ["a"]


# How English splits: a blank in the right column is where words part


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("don't", "do n't"),
        ("haven't", "have n't"),
        ("can't", "ca n't"),
        ("HAVEN'T", "HAVE N'T"),
        ("CAN’T", "CA N’T"),
        ("couldn't've", "could n't 've"),
        ("I'm", "I 'm"),
        ("we’ll", "we ’ll"),
        ("cannot", "can not"),
        ("CANNOT", "CAN NOT"),
        ("gonna", "gon na"),
        ("Gonna,", "Gon na ,"),
        ("dunno", "du n no"),
        ("dont", "do nt"),
        ("John's", "John 's"),
        ("JOHN’S", "JOHN ’S"),
        ("parents'", "parents '"),
        ("o'clock", "o'clock"),
        ("O'Neill's", "O'Neill 's"),
        ("'quoted'", "' quoted '"),
        ("1980's", "1980's"),
    ],
)
def test_contractions_and_possessives_split(text: str, expected: str) -> None:
    assert words(text) == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("well-known", "well - known"),
        ("state-of-the-art", "state - of - the - art"),
        ("co-operate", "co-operate"),
        ("non-profit", "non-profit"),
        ("e-mail", "e-mail"),
        ("US- based", "US - based"),
        ("decent--let alone well-bred--people", "decent -- let alone well - bred -- people"),
        ("wait...what", "wait ... what"),
        ("and/or", "and / or"),
        ("(see", "( see"),
        ('"Yes!!"', '" Yes !! "'),
        ("where is the bar?", "where is the bar ?"),
        ("really?!", "really ?!"),
        ("end.Next", "end . Next"),
        ("100%", "100 %"),
    ],
)
def test_hyphens_slashes_and_punctuation_split(text: str, expected: str) -> None:
    assert words(text) == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5.975,74", "5.975,74"),
        ("1,000,000.", "1,000,000 ."),
        ("$5", "$ 5"),
        ("$3.5M", "$ 3.5 M"),
        ("10km", "10 km"),
        ("7:30PM", "7:30 PM"),
        ("23rd", "23rd"),
        ("1990s,", "1990s ,"),
        ("12/25/2000", "12/25/2000"),
        ("555-123-4567", "555-123-4567"),
        ("1914-1918", "1914 - 1918"),
        ("+1", "+1"),
        ("H2O", "H2O"),
    ],
)
def test_numbers_stay_whole_and_leave_their_units(text: str, expected: str) -> None:
    assert words(text) == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. Smith", "Mr. Smith"),
        ("the U.S.", "the U.S."),
        ("U.S.-led", "U.S. - led"),
        ("J. Doe", "J. Doe"),
        ("(e.g.,", "( e.g. ,"),
        ("etc...", "etc ..."),
        ("So did I.", "So did I ."),
        ("AT&T", "AT&T"),
        ("https://example.org/a_(b)?q=1#c).", "https://example.org/a_(b)?q=1#c ) ."),
        ("www.example.org,", "www.example.org ,"),
        ("<first.last@example.org>", "< first.last@example.org >"),
        ("example.org/page", "example.org / page"),
        ("#hashtag @user #1", "#hashtag @user # 1"),
        ("nice:) :-( ;D <3", "nice :) :-( ;D <3"),
        ("9:30", "9:30"),
    ],
)
def test_abbreviations_addresses_and_emoticons_stay_whole(text: str, expected: str) -> None:
    assert words(text) == expected.split()


# Other scripts and odd characters


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("50 क्या आपके पास", "50 क्या आपके पास"),
        ("यह है।", "यह है ।"),
        ("我爱北京，你呢？", "我 爱 北 京 ， 你 呢 ？"),
        ("カメラです。", "カ メ ラ で す 。"),
        ("iPhone手机", "iPhone 手 机"),
        ("كيف حالك؟", "كيف حالك ؟"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("שָׁלוֹם.", "שָׁלוֹם ."),
        ("naïve nai\u0308ve", "naïve nai\u0308ve"),
        ("İstanbul'da", "İstanbul'da"),
        ("안녕하세요!", "안녕하세요 !"),
        ("a\u200b \u200b b", "a \u200b \u200b b"),
        ("Kamphuis \u200c here", "Kamphuis \u200c here"),
        ("\ufeffword wo\ufeffrd", "\ufeff word wo\ufeffrd"),
        ("a\0b", "a \0 b"),
        ("\udddd1975", "\udddd 1975"),
    ],
)
def test_other_scripts_and_odd_characters(text: str, expected: str) -> None:
    assert words(text) == expected.split(" ")


@pytest.mark.parametrize(
    "emoji",
    [
        "👍",
        "👍🏽",
        "👩\u200d👩\u200d👧",
        "🇺🇦",
        "1\ufe0f\u20e3",
        "#\u20e3",
        "❤\ufe0f",
        "🏴\U000e0067\U000e007f",
    ],
)
def test_an_emoji_is_one_word_and_is_not_torn(emoji: str) -> None:
    assert words(emoji) == [emoji]
    assert words(f"so{emoji}{emoji}!") == ["so", emoji, emoji, "!"]


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "1",
        "-",
        "'",
        "!",
        "中",
        "👍",
        "🇦",
        "\u0301",
        "\u200b",
        "a.",
        "A.a.",
        "1..",
        "$1,,",
        "-'",
        "http://",
        "contact",
        "a@",
        "\ud800",
        " )",
        " :)",
        "! :) ",
        "1 . ",
        ".\n\n",
    ],
)
def test_long_runs_of_one_thing_come_through_whole(unit: str) -> None:
    text = (unit * 100_000)[:100_000]
    assert_sound(text, Tokenizer().tokenize(text))


def test_one_endless_word_leaves_its_neighbours_alone() -> None:
    assert words("I can't " + "contact" * 800 + " him.") == [
        *["I", "ca", "n't"],
        "contact" * 800,
        *["him", "."],
    ]
