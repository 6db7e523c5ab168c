"""Ambiguity classes: which tags words bear in text that a trained model has tagged.

After Cutting et al. (1992), whose classes come of a dictionary; here text without tags and a model
that sees more of a sentence tell them to a linear one (Spoustová et al. 2009 train on such text
itself). A word that the training data lack is known to it by its spelling and its cluster alone.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from service.decoding import best_paths
from service.taggers import Tagger
from service.text.tokens import Tokens
from service.training.progress import Progress

_SENTENCES_AT_ONCE = 2000

_MIN_COUNT = 5
"""A word that comes less often tells nothing of others."""

_MIN_SHARE = 0.05
_MOST_TAGS = 3
_SURE_SHARE = 0.9


Sentences = Iterable[Sequence[str]]


def ambiguity_classes(texts: Sequence[Sentences], tagger: Tagger) -> dict[str, str]:
    """The classes of the frequent words of texts, showing progress on standard error.

    Parameters
    ----------
    texts : the words of each sentence of each.
    tagger : what tags them.

    Returns
    -------
    By word, the tags that it bears often, the most frequent first: ``NN|VB``, or ``NN|VB!`` where
    it is nearly always the first of them. A word is there as it is written, where it comes so
    often enough; else in lower case, where it comes often enough in any case.
    """
    counts = _tag_counts(texts, tagger)
    lowered: dict[str, Counter[str]] = defaultdict(Counter)
    for word, tags in counts.items():
        lowered[word.lower()].update(tags)
    return _classes(lowered) | _classes(counts)


def _tag_counts(texts: Sequence[Sentences], tagger: Tagger) -> Mapping[str, Counter[str]]:
    """How often each word bears each tag."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    progress = Progress("tagged text", len(texts))
    words = 0
    for read, sentences in enumerate(map(iter, texts)):
        while part := list(islice(sentences, _SENTENCES_AT_ONCE)):
            tokens = Tokens.from_sentences(part)
            path = best_paths(tagger.score(tokens.words, tokens.sentence_offsets))
            pairs = Counter(zip(tokens.words, path.tolist(), strict=True))
            for (word, tag), count in pairs.items():
                counts[word][tagger.labels[tag]] += count
            words += len(tokens.words)
            progress.step(read, f"{words} words")
    progress.step(len(texts), f"{words} words")
    return counts


def _classes(counts: Mapping[str, Counter[str]]) -> dict[str, str]:
    return {w: _class(tags) for w, tags in counts.items() if tags.total() >= _MIN_COUNT}


def _class(tags: Counter[str]) -> str:
    total = tags.total()
    (first, count), *others = tags.most_common(_MOST_TAGS)
    often = [first, *(tag for tag, n in others if n >= _MIN_SHARE * total)]
    return "|".join(often) + "!" * (count > _SURE_SHARE * total)
