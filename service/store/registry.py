"""The models that lie in the models directory, those that are loaded, and the defaults."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from service.config import Settings
from service.errors import ModelError, ModelNotFound, ModelNotLoaded, NoDefaultModel
from service.store.directory import make_tagger, read_manifest, read_parameters
from service.store.manifest import MANIFEST_FILE, MODEL_NAME, WEIGHTS_FILE, Manifest
from service.taggers import Tagger

SHOWN_MODEL = "en-pos-janet"
"""The textbook's: the page at `/` walks through its trellis. It is a few kilobytes."""

_FILES = (MANIFEST_FILE, WEIGHTS_FILE)  # either makes a directory a model


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model that is ready to tag.

    Attributes
    ----------
    load_s : how long it took to load.
    """

    manifest: Manifest
    tagger: Tagger
    load_s: float = 0.0


def load_model(directory: Path, max_unseen_words: int) -> LoadedModel:
    """Load one model directory.

    Raises
    ------
    ModelError
        Names the file that cannot be used, and why.
    """
    begin = time.monotonic()
    manifest = read_manifest(directory)
    parameters = read_parameters(directory, manifest)
    tagger = make_tagger(directory, manifest, parameters, max_unseen_words)
    return LoadedModel(manifest, tagger, time.monotonic() - begin)


class Registry:
    """What can be asked for. Immutable after it was opened.

    Parameters
    ----------
    manifests : of every model that lies in the directory, by name.
    loaded : those loaded, by name; the first of a task and tagset is its default.
    """

    def __init__(
        self, manifests: Mapping[str, Manifest], loaded: Mapping[str, LoadedModel]
    ) -> None:
        self.manifests = manifests
        self.loaded = loaded

    @classmethod
    def open(cls, settings: Settings) -> "Registry":
        """Load the models that the settings name.

        Raises
        ------
        ModelError
            Where the directory, a manifest in it, or a file of a model to load cannot be used,
            or a named model is not there.
        """
        root = settings.models_path
        manifests = read_manifests(root)
        names = served_names(settings, manifests)
        loaded = {name: load_model(root / name, settings.max_unseen_words) for name in names}
        return cls(manifests, loaded)

    def get(self, name: str) -> LoadedModel:
        """The loaded model of that name.

        Raises
        ------
        ModelNotFound, ModelNotLoaded
        """
        if name in self.loaded:
            return self.loaded[name]
        if name in self.manifests:
            raise ModelNotLoaded(name)
        raise ModelNotFound(list(self.manifests))

    def default(self, task: str, tagset: str | None) -> LoadedModel:
        """The model of a request that names none: the first loaded of its task and tagset.

        Raises
        ------
        NoDefaultModel, ModelNotLoaded
            Where no such model lies there, or one does but is not loaded.
        """
        for model in self.loaded.values():
            if (model.manifest.task, model.manifest.tagset) == (task, tagset):
                return model
        wanted = [m for m in self.manifests.values() if (m.task, m.tagset) == (task, tagset)]
        if wanted:
            raise ModelNotLoaded(wanted[0].name)
        raise NoDefaultModel(task, tagset, list(self.manifests))


def served_names(settings: Settings, manifests: Mapping[str, Manifest]) -> tuple[str, ...]:
    """Names of the models that a server of these settings loads, in order.

    Raises
    ------
    ModelError
        Where the settings name one that is not there.
    """
    names = settings.model_names or _defaults(manifests)
    if settings.demo and not settings.model_names and SHOWN_MODEL in manifests:
        names = tuple(dict.fromkeys((*names, SHOWN_MODEL)))  # last: no default but if alone
    for name in names:
        if name not in manifests:
            file = settings.models_path / name / MANIFEST_FILE
            raise ModelError(file, "no such model; TRELLIS_MODELS names it")
    return names


def served_defaults(
    settings: Settings, manifests: Mapping[str, Manifest]
) -> dict[tuple[str, str | None], str]:
    """The default of each task and tagset on a server of these settings; raises as above."""
    defaults: dict[tuple[str, str | None], str] = {}
    for name in served_names(settings, manifests):
        manifest = manifests[name]
        defaults.setdefault((manifest.task, manifest.tagset), name)
    return defaults


def read_manifests(root: Path) -> dict[str, Manifest]:
    """Manifests of the directories in `root` that are named as models and hold files of one.

    Raises
    ------
    ModelError
        Where the directory or a manifest in it cannot be used, or no model lies there.
    """
    try:
        named = sorted(path for path in root.iterdir() if MODEL_NAME.fullmatch(path.name))
    except OSError as error:
        raise ModelError(root, error.strerror or str(error)) from error
    directories = list(filter(_holds_model, named))
    if not directories:
        raise ModelError(root, "no model lies there")
    return {path.name: read_manifest(path) for path in directories}


def _holds_model(path: Path) -> bool:
    try:
        return any((path / name).is_symlink() or (path / name).exists() for name in _FILES)
    except OSError as error:
        raise ModelError(path, error.strerror or str(error)) from error


def _defaults(manifests: Mapping[str, Manifest]) -> tuple[str, ...]:
    """One name of each task and tagset: one that calls itself the default, else the first."""
    chosen: dict[tuple[str, str | None], str] = {}
    for name, manifest in sorted(manifests.items(), key=lambda item: not item[1].default):
        chosen.setdefault((manifest.task, manifest.tagset), name)
    return tuple(sorted(chosen.values()))
