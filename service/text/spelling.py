"""What a neural tagger reads off a word's spelling: its case, and its characters."""

CASES = (
    "lower",
    "title",
    "upper",
    "capital",
    "mixed",
    "caseless",
    "digits",
    "alphanumeric",
    "other",
)
"""The kinds of case; a model's case vectors are in this order."""

BOUNDARY = "\n"
"""What a language model reads before the first word of a sentence and after the last one. The
tokenizer makes no such word."""

MAX_CHARACTERS = 24
"""Of a longer word the first and the last characters are read, half of them each."""


def case_of(word: str) -> int:
    """The index into `CASES` of a word's case.

    ``lower`` and ``upper`` have letters of one case, ``title`` begins with its one capital,
    ``capital`` is a single one; ``digits`` holds digits and no letter, ``alphanumeric`` both.
    """
    has_digit = any(map(str.isdigit, word))
    if not any(map(str.isalpha, word)):
        return CASES.index("digits" if has_digit else "other")
    if has_digit:
        return CASES.index("alphanumeric")
    if word.islower():
        return CASES.index("lower")
    if word.isupper():
        return CASES.index("capital" if len(word) == 1 else "upper")
    if word[0].isupper() and word[1:].islower():
        return CASES.index("title")
    return CASES.index("mixed" if any(map(str.isupper, word)) else "caseless")


def vector_keys(word: str) -> tuple[str, ...]:
    """The names that a word's vector is looked up by, in turn: lower case, and digits as zeros."""
    lower = word.lower()
    zeroed = "".join("0" if c.isdigit() else c for c in lower)
    return (lower,) if zeroed == lower else (lower, zeroed)


def characters_of(word: str) -> str:
    """The characters of a word that are read, at most `MAX_CHARACTERS`."""
    if len(word) <= MAX_CHARACTERS:
        return word
    half = MAX_CHARACTERS // 2
    return word[:half] + word[-half:]
