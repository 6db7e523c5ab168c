"""A directory with a language model: what `trellis pretrain` writes and an ELMo is made from.

Nothing is served from it: a tagger's own directory holds all that the tagger needs.
"""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from service.errors import ModelError, first_fault
from service.store.directory import read_files, write_description, write_files
from service.store.manifest import (
    MANIFEST_FILE,
    FileName,
    FileSpec,
    Language,
    LanguageModelInfo,
    Manifest,
    Perplexity,
    Source,
    Version,
    Word,
    joined_sources,
)
from service.taggers import Parameters
from service.text import tokenizer
from service.training.card import perplexity_table, source_table


class LanguageModelManifest(BaseModel):
    """The manifest of a language model; the reference is ``models/README.md``."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    format: Literal[1]
    kind: Literal["language-model"]
    version: Version
    description: str
    language: Language
    tokenizer: Word
    licence: str
    sources: tuple[Source, ...] = Field(strict=False)
    perplexities: tuple[Perplexity, ...] = Field(strict=False)
    files: dict[FileName, FileSpec]


def write_language_model(
    directory: Path, manifest: LanguageModelManifest, parameters: Parameters
) -> LanguageModelManifest:
    """Write the directory: weights, vocabularies, card, and the manifest that lists them.

    Parameters
    ----------
    directory : where to write; made if it is missing.
    manifest : its `files` are filled in here.
    parameters : of the language model.

    Returns
    -------
    The manifest as written.
    """
    files = write_files(directory, parameters.arrays, parameters.vocabularies)
    manifest = manifest.model_copy(update={"files": files})
    write_description(directory, manifest, _card(manifest))
    return manifest


def read_language_model(directory: Path) -> tuple[LanguageModelManifest, Parameters]:
    """Read the directory, checked.

    Raises
    ------
    ModelError
        Where a file is missing, malformed or not the one that the manifest means, or the text was
        split by another tokenizer.
    """
    path = directory / MANIFEST_FILE
    try:
        manifest = LanguageModelManifest.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ModelError(path, error.strerror or str(error)) from error
    except ValidationError as error:
        raise ModelError(path, first_fault(error)) from error
    if manifest.tokenizer != tokenizer.VERSION:
        raise ModelError(
            path, f"needs tokenizer {manifest.tokenizer}, this is tokenizer {tokenizer.VERSION}"
        )
    return manifest, Parameters((), *read_files(directory, manifest.files))


def with_language_model(
    manifest: Manifest, pretrained: LanguageModelManifest, parameters: Parameters
) -> Manifest:
    """The manifest of a tagger that a language model is part of.

    Parameters
    ----------
    manifest : of the tagger.
    pretrained : of the language model.
    parameters : of the tagger, which says how it mixes the layers.
    """
    info = LanguageModelInfo(
        version=pretrained.version,
        description=pretrained.description,
        perplexities=pretrained.perplexities,
        layer_weights=tuple(round(w, 4) for w in parameters.arrays["mix_weights"].tolist()),
        layer_scale=round(float(parameters.arrays["mix_scale"][0]), 4),
    )
    sources = joined_sources([*manifest.sources, *pretrained.sources])
    return manifest.model_copy(update={"language_model": info, "sources": sources})


def _card(manifest: LanguageModelManifest) -> str:
    """The card as Markdown; all in it stands in the manifest."""
    lines = [
        f"# Language model {manifest.version}",
        "",
        manifest.description,
        "",
        f"- Language {manifest.language}; tokenizer {manifest.tokenizer}",
        f"- Licence: {manifest.licence}",
        "",
        "## Trained on",
        "",
        *source_table(manifest.sources),
        "",
        "## Perplexity",
        "",
        *perplexity_table(manifest.perplexities),
    ]
    return "\n".join(lines) + "\n"
