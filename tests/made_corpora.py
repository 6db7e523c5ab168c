"""Corpora that the tests make for themselves: small languages in which endings tell tags."""

import json
import lzma
import random
from collections.abc import Callable
from itertools import product
from pathlib import Path

from service.config import Settings
from service.text.conll import TaggedSentence
from service.training.recipe import Recipe, read_recipe
from service.training.train import train

MakeSentences = Callable[[int, int], list[TaggedSentence]]

_SYLLABLES = ("ba", "de", "ki", "lo", "mu", "na", "po", "ri", "sa", "tu")
_TAG_PATTERN = ("DT", "JJ", "NN", "VB", "DT", "NN", "RB", ".")
_ENDINGS = {"JJ": "ous", "NN": "tion", "VB": "ize", "RB": "ly"}
_FIXED = {"DT": ("the", "a"), ".": (".", "!")}
_UNIVERSAL = {"DT": "DET", "JJ": "ADJ", "NN": "NOUN", "VB": "VERB", "RB": "ADV", ".": "PUNCT"}


def tag_sentences(count: int, seed: int = 0) -> list[TaggedSentence]:
    """Sentences with parts of speech that endings give away."""
    rng = random.Random(seed)
    return [_sentence(rng, _TAG_PATTERN[: rng.randint(1, 8)]) for _ in range(count)]


def ner_sentences(count: int, seed: int = 0) -> list[TaggedSentence]:
    """Sentences with BIO tags: persons after *mr*, organisations that end in *Corp*."""
    rng = random.Random(seed)
    sentences = []
    for _ in range(count):
        pairs = [(_stem(rng), "O") for _ in range(rng.randint(1, 4))]
        if rng.random() < 0.5:
            pairs += [("mr", "O"), (_name(rng), "B-PER"), (_name(rng), "I-PER")]
        if rng.random() < 0.5:
            pairs += [(_name(rng), "B-ORG"), ("Corp", "I-ORG")]
        words, tags = zip(*pairs, (".", "O"), strict=True)
        sentences.append(TaggedSentence(words, tags))
    return sentences


def write_columns(path: Path, sentences: list[TaggedSentence]) -> None:
    """Write sentences as a two-column file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(
            "".join(f"{w}\t{t}\n" for w, t in zip(s.words, s.tags, strict=True)) + "\n"
            for s in sentences
        ),
        encoding="utf-8",
    )


def write_conllu(path: Path, sentences: list[TaggedSentence]) -> None:
    """Write sentences as CoNLL-U: the tag as XPOS, the Universal tag that it stands for as UPOS."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for sentence in sentences:
        lines.append(f"# text = {' '.join(sentence.words)}")
        for i, (word, tag) in enumerate(zip(sentence.words, sentence.tags, strict=True), start=1):
            lines.append(f"{i}\t{word}\t_\t{_UNIVERSAL.get(tag, tag)}\t{tag}\t_\t_\t_\t_\t_")
        lines.append("")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _sentence(rng: random.Random, tags: tuple[str, ...]) -> TaggedSentence:
    words = [rng.choice(_FIXED[t]) if t in _FIXED else _stem(rng) + _ENDINGS[t] for t in tags]
    return TaggedSentence(tuple(words), tags)


def _stem(rng: random.Random) -> str:
    return "".join(rng.choices(_SYLLABLES, k=2))


def _name(rng: random.Random) -> str:
    return _stem(rng).capitalize()


def write_data(folder: Path, recipe_file: Path, make: MakeSentences) -> None:
    """Write every file that a recipe names, in its format and small, and make its teachers."""
    recipe = read_recipe(recipe_file)
    for seed, corpus in enumerate(recipe.corpora):
        for split in ("train", "dev", "test"):
            sentences = make(40, 10 * seed + ("train", "dev", "test").index(split))
            for file in getattr(corpus, split):
                write = write_columns if corpus.format == "columns" else write_conllu
                write(folder / file, sentences)
            for file in getattr(corpus, f"raw_{split}", ()):
                write_conllu(folder / file, sentences)
    if recipe.vectors is not None:
        _write_vectors(folder / recipe.vectors.file)
    for names in recipe.gazetteers:
        _write_names(folder / names.file, names.format, names.field)
    for seed, text in enumerate(recipe.texts, start=100):
        for file in text.files:
            write = write_columns if text.format == "columns" else _write_text
            write(folder / file, make(40, seed))
    for directory in recipe.teachers:
        _make_teacher(folder, directory, recipe)


def _write_text(path: Path, sentences: list[TaggedSentence]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    open_text = lzma.open if path.suffix == ".xz" else open
    with open_text(path, "wt", encoding="utf-8") as lines:
        lines.writelines(" ".join(sentence.words) + "\n" for sentence in sentences)


def _make_teacher(folder: Path, directory: str, recipe: Recipe) -> None:
    """An HMM of the recipe's corpora, whatever its name says that it is."""
    changes = {"name": Path(directory).name, "architecture": "hmm", "options": {}}
    others = {"vectors": None, "gazetteers": (), "texts": (), "teachers": ()}
    train(
        recipe.model_copy(update={**changes, **others}), folder, folder / directory, (), Settings()
    )


def _write_vectors(path: Path) -> None:
    rng = random.Random(0)
    words = ["".join(pair) for pair in product(_SYLLABLES, repeat=3)]
    vectors = {word: [rng.gauss(0, 1) for _ in range(8)] for word in words}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"dimensions": 8, "words": words, "vectors": vectors}))


def _write_names(path: Path, file_format: str, field: str) -> None:
    names = ["Bade Corp", "Kilo", "Mu Na"]
    path.parent.mkdir(parents=True, exist_ok=True)
    if file_format == "csv":
        path.write_text("\n".join([field, *names]) + "\n")
    elif file_format == "json":
        path.write_text(json.dumps([{field: name} for name in names]))
    else:
        path.write_text("".join(f"{name.split()[0].upper()} 1 1\n" for name in names))
