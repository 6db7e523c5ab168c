"""Whether the service lives, and whether it can do its work."""

from dataclasses import dataclass

from service import __version__
from service.api import draining
from service.api.answers import Json
from service.api.problems import NOT_READY, Problem, log_unexpected
from service.pipeline import annotate
from service.store.registry import LoadedModel, Registry
from service.text.tokenizer import Tokenizer

_SENTENCE = "Janet will back the bill."


@dataclass(frozen=True, slots=True)
class Readiness:
    """What the check at start found; a model does not change after, so that does not either.

    Attributes
    ----------
    working : the loaded models that decoded a sentence.
    failing : those that did not.
    """

    working: tuple[str, ...]
    failing: tuple[str, ...]

    @property
    def fault(self) -> str | None:
        """Why nobody should ask the service for work; None where one may."""
        if draining.has_begun():
            return "the service is about to stop"
        if self.failing:
            return f"models that could not decode a sentence: {', '.join(self.failing)}"
        return None if self.working else "no model is loaded"


def assess(registry: Registry, tokenizer: Tokenizer) -> Readiness:
    """Let every loaded model decode a sentence."""
    outcomes = {name: _decodes(model, tokenizer) for name, model in registry.loaded.items()}
    return Readiness(
        working=tuple(name for name, decodes in outcomes.items() if decodes),
        failing=tuple(name for name, decodes in outcomes.items() if not decodes),
    )


def ready(readiness: Readiness) -> Json:
    """Say that a model is loaded and each has decoded a sentence.

    Raises
    ------
    Problem
        Where that is not so, or the service is about to stop.
    """
    if readiness.fault:
        raise Problem(NOT_READY, readiness.fault)
    return {"status": "ok"}


def health(registry: Registry, readiness: Readiness) -> Json:
    """Version, models and state of the service.

    Raises
    ------
    Problem
        With version and models too, where the service is not ready.
    """
    models = [
        {"name": name, "version": manifest.version, "loaded": name in registry.loaded}
        for name, manifest in registry.manifests.items()
    ]
    if readiness.fault:
        raise Problem(NOT_READY, readiness.fault, version=__version__, models=models)
    return {"status": "ok", "version": __version__, "models": models}


def _decodes(model: LoadedModel, tokenizer: Tokenizer) -> bool:
    is_ner = model.manifest.task == "ner"
    try:
        annotate(
            model.tagger, [tokenizer.tokenize(_SENTENCE)], spans=is_ner, max_sentence_tokens=100
        )
    except Exception as error:
        log_unexpected(error)
        return False
    return True
