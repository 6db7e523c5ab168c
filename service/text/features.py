"""What a linear model reads off a word. A feature depends on one word alone, and its offset.

That restriction is what makes serving fast: the score of a word at an offset is computed once for
each word (see `service.taggers.word_rows`), and a token's score is a sum over its neighbours.
"""

OFFSETS = (-2, -1, 0, 1, 2)
"""The words that a token looks at, from two before it to two after it."""

BOUNDARY = ""
"""The word that stands before and after every sentence; no token is empty."""

_MAX_SHAPE = 16
"""A longer shape is cut, so that no feature grows with the length of a word."""

_MAX_WORD = 64
"""A longer word is no vocabulary entry: its identity is left out."""


def word_features(word: str, offset: int) -> list[str]:
    """Features of `word` for the token that it stands `offset` words away from.

    Parameters
    ----------
    word : the word, or `BOUNDARY` outside of the sentence.
    offset : one of `OFFSETS`.

    Returns
    -------
    Distinct names ``<offset>:<kind>=<value>``. A token's own word gives all kinds: identity,
    lower case, shape, prefixes and suffixes of up to four characters, and what characters it
    holds. Its neighbours give fewer, those at two words' distance the fewest.
    """
    if word == BOUNDARY:
        kinds = ["boundary"]
    else:
        lower = word.lower()
        shape = _shape(word)
        kinds = [f"runs={_runs(shape)[:_MAX_SHAPE]}"]
        if len(word) <= _MAX_WORD:
            kinds.append(f"lower={lower}")
        if abs(offset) <= 1:
            kinds += [f"suffix={lower[-3:]}", f"last={lower[-2:]}"]
        if offset == 0:
            kinds += _own_features(word, lower, shape)
    return [f"{offset}:{kind}" for kind in kinds]


def _own_features(word: str, lower: str, shape: str) -> list[str]:
    kinds = [f"shape={shape[:_MAX_SHAPE]}"]
    if len(word) <= _MAX_WORD:
        kinds.append(f"word={word}")
    for length in range(1, min(4, len(lower)) + 1):
        kinds += [f"prefix={lower[:length]}", f"suffix{length}={lower[-length:]}"]
    kinds.append(f"ending={word[-3:]}")
    if "d" in shape:
        kinds.append("digit")
    if "-" in word[1:-1]:
        kinds.append("hyphen")
    if not any(map(str.isalnum, word)):
        kinds.append("symbol")
    if word.isupper():
        kinds.append("upper")
    return kinds


def _shape(word: str) -> str:
    """``X`` for upper case, ``x`` for lower case and other letters, ``d`` for digits.

    Reads the first `_MAX_WORD` characters; others stand for themselves.
    """
    return "".join(
        "X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c
        for c in word[:_MAX_WORD]
    )


def _runs(shape: str) -> str:
    """The shape with every run of one character as one: ``Xxxxx-ddd`` to ``Xx-d``."""
    return "".join(c for i, c in enumerate(shape) if i == 0 or c != shape[i - 1])
