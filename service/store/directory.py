"""Reading and writing a model directory. A file is trusted only after its checksum was checked.

No model file is ever executed or unpickled: the manifest and the vocabularies are JSON, the
weights are safetensors. Every fault is a `ModelError` that names the file and the reason.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import safetensors
import safetensors.numpy
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from service.decoding import Constraints, bio_constraints
from service.errors import ModelError, first_fault
from service.store.manifest import (
    MANIFEST_FILE,
    MAX_MANIFEST_BYTES,
    WEIGHTS_FILE,
    FileSpec,
    Manifest,
    TensorSpec,
)
from service.taggers import ARCHITECTURES, Parameters, Tagger
from service.text import tokenizer
from service.text.spans import split_tag


def read_manifest(directory: Path) -> Manifest:
    """Read and check the manifest of a model directory.

    Raises
    ------
    ModelError
        Where it is missing, malformed, too large, or of another format or name.
    """
    path = directory / MANIFEST_FILE
    content = _read_regular(path, MAX_MANIFEST_BYTES)
    if len(content) > MAX_MANIFEST_BYTES:
        raise ModelError(path, f"larger than {MAX_MANIFEST_BYTES} bytes")
    try:
        manifest = Manifest.model_validate_json(content)
    except ValidationError as error:
        raise ModelError(path, first_fault(error)) from error
    if manifest.name != directory.name:
        raise ModelError(path, f"the model is named {manifest.name}, unlike its directory")
    return manifest


def read_parameters(directory: Path, manifest: Manifest) -> Parameters:
    """Read the files that the manifest lists, checked against it.

    Raises
    ------
    ModelError
        Where a file is missing, not the one that the manifest describes, or malformed.
    """
    return Parameters(manifest.labels, *read_files(directory, manifest.files))


def read_files(
    directory: Path, files: Mapping[str, FileSpec]
) -> tuple[dict[str, NDArray[Any]], dict[str, list[str]]]:
    """Read weights and vocabularies, checked against what a manifest says of them.

    Raises
    ------
    ModelError
        Where a file is missing, not the one that is described, or malformed.
    """
    arrays: dict[str, NDArray[Any]] = {}
    vocabularies: dict[str, list[str]] = {}
    for name, spec in files.items():
        path = directory / name
        content = _read_checked(path, spec)
        if name == WEIGHTS_FILE:
            arrays = _read_weights(path, content, spec)
        elif path.suffix == ".json":
            vocabularies[path.stem] = _read_vocabulary(path, content, spec)
        else:
            raise ModelError(path, "neither weights nor a vocabulary")
    return arrays, vocabularies


def make_tagger(
    directory: Path, manifest: Manifest, parameters: Parameters, max_unseen_words: int
) -> Tagger:
    """Make the tagger of a model.

    Raises
    ------
    ModelError
        Where this version of Trellis cannot serve it: another tokenizer, an unknown
        architecture, labels or parameters that do not fit.
    """
    path = directory / MANIFEST_FILE
    if manifest.tokenizer != tokenizer.VERSION:
        raise ModelError(
            path, f"needs tokenizer {manifest.tokenizer}, this is tokenizer {tokenizer.VERSION}"
        )
    if manifest.architecture not in ARCHITECTURES:
        raise ModelError(
            path,
            f"unknown architecture {manifest.architecture}; known: {', '.join(ARCHITECTURES)}",
        )
    if len(set(manifest.labels)) != len(manifest.labels):
        raise ModelError(path, "labels: a label twice")
    try:
        constraints = constraints_of(manifest.task, manifest.labels)
    except ValueError as error:
        raise ModelError(path, f"labels: {error}") from error
    try:
        return ARCHITECTURES[manifest.architecture](parameters, constraints, max_unseen_words)
    except ValueError as error:
        raise ModelError(directory, str(error)) from error


def constraints_of(task: str, labels: tuple[str, ...]) -> Constraints:
    """Strict IOB2 for entities, none for parts of speech.

    Raises
    ------
    ValueError
        Where a label of an entity tagger is no BIO tag.
    """
    if task != "ner":
        return Constraints.none(len(labels))
    for label in labels:
        split_tag(label)
    return bio_constraints(labels)


def write_model(directory: Path, manifest: Manifest, parameters: Parameters, card: str) -> Manifest:
    """Write a model directory: weights, vocabularies, card, and the manifest that lists them.

    The same model gives the same bytes. A file is replaced whole or not at all, the manifest
    last; other files in the directory, such as the recipe, stay.

    Parameters
    ----------
    directory : where to write; made if it is missing.
    manifest : its `files` are filled in here.
    parameters : what the tagger is made from.
    card : the model card, Markdown.

    Returns
    -------
    The manifest as written.
    """
    files = write_files(directory, parameters.arrays, parameters.vocabularies)
    manifest = manifest.model_copy(update={"files": files})
    write_description(directory, manifest, card)
    return manifest


def write_files(
    directory: Path,
    arrays: Mapping[str, NDArray[Any]],
    vocabularies: Mapping[str, Sequence[str]],
) -> dict[str, FileSpec]:
    """Write weights and vocabularies.

    Returns
    -------
    What a manifest says of them.
    """
    contents = {WEIGHTS_FILE: safetensors.numpy.save(dict(arrays))}
    tensors = {
        name: TensorSpec(dtype=array.dtype.name, shape=array.shape)
        for name, array in sorted(arrays.items())
    }
    files = {WEIGHTS_FILE: _spec(contents[WEIGHTS_FILE], tensors=tensors)}
    for name, entries in sorted(vocabularies.items()):
        file = f"{name}.json"
        contents[file] = orjson.dumps(entries)
        files[file] = _spec(contents[file], length=len(entries))
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        _replace(directory / name, content)
    return files


def write_description(directory: Path, manifest: BaseModel, card: str) -> None:
    """Write the card, and last the manifest."""
    _replace(directory / "README.md", card.encode())
    _replace(directory / MANIFEST_FILE, (manifest.model_dump_json(indent=2) + "\n").encode())


def _read_checked(path: Path, spec: FileSpec) -> bytes:
    """The content of a file that is the one that the manifest means."""
    content = _read_regular(path, spec.size_bytes)
    if len(content) != spec.size_bytes:
        found = "more" if len(content) > spec.size_bytes else len(content)
        raise ModelError(path, f"{found} bytes; the manifest says {spec.size_bytes}")
    if hashlib.sha256(content).hexdigest() != spec.sha256:
        raise ModelError(path, "the checksum is not the one in the manifest")
    return content


def _read_regular(path: Path, most: int) -> bytes:
    """The content of a regular file that lies in its directory, up to one byte over `most`."""
    try:
        if not path.resolve().is_relative_to(path.parent.resolve()):
            raise ModelError(path, "a link that leaves the model directory")
        if not path.is_file():
            raise ModelError(path, "no such file" if not path.exists() else "not a regular file")
        with path.open("rb") as file:
            return file.read(most + 1)
    except (OSError, RuntimeError) as error:  # RuntimeError is a loop of links in Python 3.11
        raise ModelError(path, getattr(error, "strerror", None) or str(error)) from error


def _read_weights(path: Path, content: bytes, spec: FileSpec) -> dict[str, NDArray[Any]]:
    try:
        arrays = safetensors.numpy.load(content)
    except (safetensors.SafetensorError, KeyError, ValueError) as error:
        raise ModelError(path, f"no safetensors file: {error}") from error
    found = {name: TensorSpec(dtype=a.dtype.name, shape=a.shape) for name, a in arrays.items()}
    if found != spec.tensors:
        wrong = sorted(
            name
            for name in found.keys() | (spec.tensors or {}).keys()
            if found.get(name) != (spec.tensors or {}).get(name)
        )
        raise ModelError(path, f"types or shapes unlike the manifest's: {', '.join(wrong)}")
    return arrays


def _read_vocabulary(path: Path, content: bytes, spec: FileSpec) -> list[str]:
    try:
        entries = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise ModelError(path, f"malformed JSON: {error}") from error
    if not isinstance(entries, list) or not set(map(type, entries)) <= {str}:
        raise ModelError(path, "expected an array of strings")
    if len(entries) != spec.length:
        raise ModelError(path, f"{len(entries)} entries; the manifest says {spec.length}")
    return entries


def _spec(content: bytes, **described: Any) -> FileSpec:
    digest = hashlib.sha256(content).hexdigest()
    return FileSpec(sha256=digest, size_bytes=len(content), **described)


def _replace(path: Path, content: bytes) -> None:
    """Write a file so that it has either its old content or the whole new one."""
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(content)
    partial.replace(path)
