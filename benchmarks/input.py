"""Makes the texts to measure on, and what the peers are trained on: `python -m benchmarks.input`.

A process of its own, so that the one that starts the others holds neither NumPy nor a model.
"""

import argparse
import json
import lzma
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path

from service.config import Settings
from service.pipeline import annotate
from service.store.directory import read_manifest, read_parameters
from service.store.registry import load_model
from service.text.conll import TaggedSentence, read_columns, read_conllu, read_lines
from service.text.tokenizer import Tokenizer

SENTENCES = ("pos/en_ewt-test.conllu", "pos/en_gum_open-test.conllu")
PLAIN = ("text/gutenberg.txt.xz", "text/openstax.txt.xz", "text/presidential.txt.xz")
NER_TRAINING = "ner/uner_ewt_train.tsv"
POS_TRAINING = "pos/en_ewt-train.conllu"

PLAIN_SENTENCES = 500  # of each source
PLAIN_START = 0.5  # a source is read from its middle, beyond prefaces and contents
PLAIN_CHARS = 400_000
REQUEST_TOKENS = 25
WORDS_FROM = ("en-ner-crf", "en-pos-crf")
FREQUENT_FROM, ALL_FROM = "en-pos-crf", "en-pos-hmm"  # of one training; the former by frequency
MAX_SENTENCE_TOKENS = 10_000


def prepare(folder: Path, data: Path | None, sentences: int) -> None:
    """Write the texts, what is known of them, and the training sets, as JSON.

    Parameters
    ----------
    folder : where to write ``texts.json``, ``about.json`` and ``train-{ner,pos}.json``.
    data : the public data sets; None makes text from the words of the models.
    sentences : of each set at most this many; of made text, exactly.
    """
    if data is None:
        sets = {"made": made_texts(sentences, seed=0)}
        training = tagged_by_us(made_texts(2 * sentences, seed=1))
    else:
        sets = {
            "sentences": [text for file in SENTENCES for text in texts_of(data / file)],
            "plain": [text for file in PLAIN for text in sample(data / file)],
        }
        sets = {name: _spread(texts, sentences) for name, texts in sets.items()}
        training = {
            "ner": read_columns(data / NER_TRAINING),
            "pos": read_conllu(data / POS_TRAINING, "xpos"),
        }
    about = {name: describe(texts) for name, texts in sets.items()}
    first = next(iter(sets.values()))
    sets["some"] = _spread(first, 500)  # one at a time; the same texts for all
    sets["request"] = [min(first, key=lambda text: abs(count_tokens([text]) - REQUEST_TOKENS))]
    sets["batch_request"] = _spread(first, 32)
    tokens = {name: count_tokens(texts) for name, texts in sets.items()}
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "texts.json", sets)
    _write(folder / "about.json", {"sets": about, "tokens": tokens})
    for task, tagged in training.items():
        _write(folder / f"train-{task}.json", [[s.words, s.tags] for s in tagged])


def texts_of(path: Path) -> list[str]:
    """The sentences of a CoNLL-U file, as they stood in the running text."""
    mark = "# text = "
    return [line.removeprefix(mark) for line in read_lines(path) if line.startswith(mark)]


def sample(path: Path) -> list[str]:
    """Consecutive sentences from the middle of a plain text, as our splitter finds them."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        text = file.read()
    start = text.index("\n", int(PLAIN_START * len(text)))
    return list(split_sentences(text[start : start + PLAIN_CHARS]))[:PLAIN_SENTENCES]


def split_sentences(text: str) -> Iterator[str]:
    """The sentences of a text."""
    tokens = Tokenizer().tokenize(text)
    assert tokens.starts is not None
    assert tokens.ends is not None
    for first, end in pairwise(tokens.sentence_offsets.tolist()):
        yield text[tokens.starts[first] : tokens.ends[end - 1]]


def made_texts(count: int, seed: int) -> list[str]:
    """Sentences of the words of our training data; the frequency of a word falls with its rank.

    As in text, some seven tokens in ten have a row from the start on.
    """
    rng = random.Random(seed)
    frequent = known_words(FREQUENT_FROM)
    rare = sorted(known_words(ALL_FROM).keys() - frequent.keys())
    random.Random(0).shuffle(rare)  # their ranks
    words = [*frequent, *rare]
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    lengths = [rng.randint(4, 30) for _ in range(count)]
    return [" ".join(rng.choices(words, cum_weights=weights, k=n)) + " ." for n in lengths]


def tagged_by_us(texts: Sequence[str]) -> dict[str, list[TaggedSentence]]:
    """Texts with the tags that our models give them, to train peers on where there is no data."""
    tokenizer = Tokenizer()
    documents = [tokenizer.tokenize(text) for text in texts]
    tagged = {}
    for task, name in (("ner", "en-ner-crf"), ("pos", "en-pos-crf")):
        tagger = load_model(_directory(name), max_unseen_words=0).tagger
        found = annotate(tagger, documents, spans=False, max_sentence_tokens=MAX_SENTENCE_TOKENS)
        tagged[task] = [
            TaggedSentence(
                tuple(annotation.tokens.words),
                tuple(annotation.labels[tag] for tag in annotation.tag_ids.tolist()),
            )
            for annotation in found
        ]
    return tagged


def describe(texts: Sequence[str]) -> dict[str, object]:
    """How many texts and tokens, and the share of tokens that a model has no row for."""
    tokenizer = Tokenizer()
    words = [word for text in texts for word in tokenizer.tokenize(text).words]
    unseen = {}
    for name in WORDS_FROM:
        known = known_words(name)
        unseen[name] = sum(word not in known for word in words) / len(words)
    return {"texts": len(texts), "tokens": len(words), "unseen": unseen}


def count_tokens(texts: Sequence[str]) -> int:
    """Tokens of texts by our tokenizer: the one count that all programs' rates are made of."""
    tokenizer = Tokenizer()
    return sum(len(tokenizer.tokenize(text).words) for text in texts)


@cache
def known_words(name: str) -> Mapping[str, int]:
    """The words of a model's table, in its order, which numbers them."""
    directory = _directory(name)
    return read_parameters(directory, read_manifest(directory)).ids("words")


def _directory(name: str) -> Path:
    return Settings().models_path / name


def _spread(texts: list[str], count: int) -> list[str]:
    """At most `count` texts, evenly from the whole."""
    step = max(1, len(texts) // count)
    return texts[::step][:count]


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sentences", type=int, required=True)
    arguments = parser.parse_args()
    prepare(arguments.folder, arguments.data, arguments.sentences)
