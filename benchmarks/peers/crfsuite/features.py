"""One template of features, written twice: as the tutorials write it, and as fast as it gets.

The template is that of python-crfsuite's CoNLL 2002 tutorial, less the part-of-speech features,
which running text does not come with: the word, two endings and three shapes, and of either
neighbour the word and two shapes.
"""

import re
from collections.abc import Callable
from typing import Any

Template = Callable[[list[str]], Any]
TOKEN = re.compile(r"\w+|[^\w\s]")


def tutorial(words: list[str]) -> list[dict[str, object]]:
    """A dict for each word, made anew each time."""
    return [_features_at(words, i) for i in range(len(words))]


def _features_at(words: list[str], i: int) -> dict[str, object]:
    word = words[i]
    features: dict[str, object] = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
    }
    if i > 0:
        before = words[i - 1]
        features["-1:word.lower()"] = before.lower()
        features["-1:word.istitle()"] = before.istitle()
        features["-1:word.isupper()"] = before.isupper()
    else:
        features["BOS"] = True
    if i < len(words) - 1:
        after = words[i + 1]
        features["+1:word.lower()"] = after.lower()
        features["+1:word.istitle()"] = after.istitle()
        features["+1:word.isupper()"] = after.isupper()
    else:
        features["EOS"] = True
    return features


Entry = tuple[list[bytes], list[bytes], list[bytes]]


class TunedFeatures(dict[str, Entry]):
    """Lists of short names; what depends on the word alone is made once and kept.

    An entry holds the features of a word where it is the one before, the word itself and the one
    after. A feature that does not hold is left out instead of being given the value 0, and names
    are bytes, which python-crfsuite takes as they are.
    """

    def __missing__(self, word: str) -> Entry:
        lower = word.lower()
        upper = ["u"] if word.isupper() else []
        title = ["t"] if word.istitle() else []
        digit = ["d"] if word.isdigit() else []
        here = ["b", f"w{lower}", f"3{word[-3:]}", f"2{word[-2:]}", *upper, *title, *digit]
        beside = [f"w{lower}", *upper, *title]
        self[word] = (
            [f"-{feature}".encode() for feature in beside],
            [feature.encode() for feature in here],
            [f"+{feature}".encode() for feature in beside],
        )
        return self[word]

    def __call__(self, words: list[str]) -> list[list[bytes]]:
        """A list for each word."""
        if not words:
            return []
        entries = [self[word] for word in words]
        befores = [[b"BOS"], *[before for before, _, _ in entries[:-1]]]
        afters = [*[after for _, _, after in entries[1:]], [b"EOS"]]
        return [
            before + here + after
            for before, (_, here, _), after in zip(befores, entries, afters, strict=True)
        ]


TEMPLATES: dict[str, Callable[[], Template]] = {
    "tutorial": lambda: tutorial,
    "tuned": TunedFeatures,
}
