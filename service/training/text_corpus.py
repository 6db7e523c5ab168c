"""Unlabelled text as numbers: what a language model is pretrained on, read once and kept."""

import lzma
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import orjson
from numpy.typing import NDArray

from service.errors import CorpusError
from service.text.conll import read_columns
from service.text.spelling import BOUNDARY
from service.text.tokenizer import Tokenizer
from service.text.tokens import offsets_of
from service.training.progress import Progress

TextFormat = Literal["text", "columns"]
"""UTF-8 text, a paragraph a line, also compressed as ``.xz``; or a word a line, in its first
column, and a blank line after each sentence."""

_CHUNKS_KEPT = 1_000_000

Ids = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class TextCorpus:
    """The sentences of some texts, each once, over T different words.

    Attributes
    ----------
    types : the T words, in no order that means anything; the first is `BOUNDARY`.
    ids : (M,) what the words of all sentences are in `types`; each sentence begins with 0.
    offsets : (S + 1,) of the sentences.
    sources : (S,) which text each is of.
    """

    types: list[str]
    ids: Ids
    offsets: NDArray[np.int64]
    sources: NDArray[np.int8]


def read_corpus(
    texts: Sequence[tuple[TextFormat, Sequence[Path]]], kept: Path | None
) -> TextCorpus:
    """Read texts, or what was kept of them.

    Parameters
    ----------
    texts : the format and the files of each source.
    kept : a folder to keep the corpus in; one that holds it saves the reading.

    Raises
    ------
    CorpusError
        Where a file cannot be read.
    """
    if kept is None:
        return _read(texts)
    numbers, types, of = (kept / name for name in ("corpus.npz", "types.json", "texts.json"))
    described = orjson.dumps([[kind, list(map(str, files))] for kind, files in texts])
    if not of.exists() or of.read_bytes() != described:
        corpus = _read(texts)
        of.unlink(missing_ok=True)
        np.savez(numbers, ids=corpus.ids, offsets=corpus.offsets, sources=corpus.sources)
        types.write_bytes(orjson.dumps(corpus.types))
        of.write_bytes(described)  # the last, so that it stands for all of them
        return corpus
    arrays = np.load(numbers)
    return TextCorpus(
        orjson.loads(types.read_bytes()), arrays["ids"], arrays["offsets"], arrays["sources"]
    )


def _read(texts: Sequence[tuple[TextFormat, Sequence[Path]]]) -> TextCorpus:
    type_ids = {BOUNDARY: 0}
    sentences: list[Ids] = []
    sources: list[int] = []
    seen: set[bytes] = set()
    progress = Progress("text", len(texts))
    for source, (text_format, files) in enumerate(texts):
        for words in chain.from_iterable(read_sentences(text_format, file) for file in files):
            ids = np.array([0, *(type_ids.setdefault(w, len(type_ids)) for w in words)], np.int32)
            key = ids.tobytes()
            if key not in seen:
                seen.add(key)
                sentences.append(ids)
                sources.append(source)
        progress.step(source + 1, f"{len(sentences)} sentences")
    return TextCorpus(
        list(type_ids),
        np.concatenate([np.empty(0, np.int32), *sentences]),
        offsets_of([len(ids) for ids in sentences]),
        np.array(sources, dtype=np.int8),
    )


def read_sentences(text_format: TextFormat, path: Path) -> Iterator[Sequence[str]]:
    """The words of each sentence of a file, one after another.

    Raises
    ------
    CorpusError
        Where it cannot be read.
    """
    return _READ[text_format](path)


def _read_text(path: Path) -> Iterator[Sequence[str]]:
    """The words of each sentence of a text; no sentence goes beyond a line."""
    tokenizer = Tokenizer(_CHUNKS_KEPT)
    for line in _lines(path):
        tokens = tokenizer.tokenize(line)
        for first, end in pairwise(tokens.sentence_offsets.tolist()):
            yield tokens.words[first:end]


def _lines(path: Path) -> Iterator[str]:
    open_text = lzma.open if path.suffix == ".xz" else open
    try:
        with open_text(path, "rt", encoding="utf-8") as lines:
            yield from lines
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise CorpusError(path, None, getattr(error, "strerror", None) or str(error)) from error
    except UnicodeDecodeError as error:
        raise CorpusError(path, None, "no UTF-8") from error


def _read_columns(path: Path) -> Iterator[Sequence[str]]:
    return (sentence.words for sentence in read_columns(path))


_READ: Mapping[TextFormat, Callable[[Path], Iterator[Sequence[str]]]] = {
    "text": _read_text,
    "columns": _read_columns,
}
