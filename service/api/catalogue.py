"""What is said of models: which lie there, and what each is."""

from service.api.answers import Json
from service.api.schemas import TAGSETS
from service.errors import ModelNotFound, ModelNotLoaded
from service.store.manifest import Manifest
from service.store.registry import Registry

_SAID = {
    "name",
    "version",
    "description",
    "language",
    "task",
    "tagset",
    "architecture",
    "labels",
    "licence",
    "sources",
    "scores",
}


def catalogue(registry: Registry) -> dict[str, Json]:
    """Descriptions of all models that lie in the models directory, by name."""
    return {
        name: {
            **manifest.model_dump(mode="json", include=_SAID),
            "loaded": name in registry.loaded,
            "default": _is_default(registry, manifest),
        }
        for name, manifest in registry.manifests.items()
    }


def described(models: dict[str, Json], name: str) -> Json:
    """The description of one.

    Raises
    ------
    ModelNotFound
    """
    if name not in models:
        raise ModelNotFound(tuple(models))
    return models[name]


def _is_default(registry: Registry, manifest: Manifest) -> bool:
    """Whether a request of its task and tagset that names no model gets this one."""
    if manifest.task == "tag" and manifest.tagset not in TAGSETS:
        return False  # no request asks for another tagset but by the name of a model
    try:
        default = registry.default(manifest.task, manifest.tagset)
    except (ModelNotFound, ModelNotLoaded):
        return False
    return default.manifest.name == manifest.name
