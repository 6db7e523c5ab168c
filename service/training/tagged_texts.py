"""Text that a trained model tags, for a CRF to learn from (self-training with another's tags).

Of all of it is counted which tags words bear, and some sentences are training sentences too, as
Spoustová et al. (2009) have it for a perceptron.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from pathlib import Path

from service.decoding import best_paths
from service.errors import RecipeError
from service.store.registry import load_model
from service.taggers import Tagger
from service.text.conll import TaggedSentence
from service.text.tokens import Tokens
from service.training.progress import Progress
from service.training.recipe import Recipe

_SENTENCES_AT_ONCE = 2000
_UNSEEN_WORDS = 200_000


@dataclass(frozen=True, slots=True)
class TaggedTexts:
    """What a model says of texts.

    Attributes
    ----------
    counts : how often each word bears each tag.
    sentences : those that are training sentences too.
    """

    counts: Mapping[str, Counter[str]] = field(default_factory=dict)
    sentences: Sequence[TaggedSentence] = ()


def tag_texts(
    recipe: Recipe, data: Path, labels: Collection[str], held_out: Collection[tuple[str, ...]]
) -> TaggedTexts:
    """Tag the texts of a recipe with its teacher, showing progress on standard error.

    Parameters
    ----------
    recipe : names the texts and the teacher; without texts there is nothing.
    data : the folder that they lie in.
    labels : the tags that training sentences may have.
    held_out : sentences that are no training sentences.

    Raises
    ------
    CorpusError, ModelError
        Where a file or the teacher cannot be read.
    RecipeError
        Where there is not one teacher for texts, or one and no texts, or it has other tags.
    """
    if len(recipe.teachers) != bool(recipe.texts):
        raise RecipeError("texts: a CRF has one teacher, which tags them, or neither")
    if not recipe.texts:
        return TaggedTexts()
    teacher = load_model(data / recipe.teachers[0], _UNSEEN_WORDS)
    unknown = sorted(set(teacher.manifest.labels).difference(labels))
    if unknown and any(text.every for text in recipe.texts):
        raise RecipeError(f"texts: no training sentence has the teacher's {', '.join(unknown)}")
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    chosen: list[TaggedSentence] = []
    progress = Progress("tagged text", len(recipe.texts))
    words = 0
    for done, text in enumerate(recipe.texts):
        rest, read = iter(text.sentences(data)), 0
        while part := list(islice(rest, _SENTENCES_AT_ONCE)):
            tagged = _tagged(part, teacher.tagger)
            pairs = Counter(chain.from_iterable(zip(s.words, s.tags, strict=True) for s in tagged))
            for (word, tag), count in pairs.items():
                counts[word][tag] += count
            if text.every:
                chosen += tagged[-read % text.every :: text.every]
            read += len(part)
            words += pairs.total()
            progress.step(done, f"{words} words")
    progress.step(len(recipe.texts), f"{words} words")
    return TaggedTexts(counts, [s for s in chosen if s.words not in held_out])


def _tagged(sentences: Sequence[Sequence[str]], tagger: Tagger) -> list[TaggedSentence]:
    tokens = Tokens.from_sentences(sentences)
    path = best_paths(tagger.score(tokens.words, tokens.sentence_offsets))
    tags = [tagger.labels[tag] for tag in path.tolist()]
    return [
        TaggedSentence(tuple(tokens.words[first:end]), tuple(tags[first:end]))
        for first, end in pairwise(tokens.sentence_offsets.tolist())
    ]
