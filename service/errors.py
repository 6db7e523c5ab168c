"""The exceptions of the domain. No HTTP in here: `service.api.problems` maps them to answers.

    TrellisError
    ├── SettingError        a setting has a value that cannot be used
    ├── ModelError          a model directory cannot be used: names the file and the reason
    ├── ModelNotFound       no model of that name lies in the models directory
    │   └── NoDefaultModel  a request names none, and there is none of its task and tagset
    ├── ModelNotLoaded      the model lies there, but was not loaded at start
    ├── InputError          the caller's document or options are wrong: names the place
    │   └── LimitExceeded   larger than a limit: names the limit and its number
    ├── ScoresError         scores that no decoder can use (NaN, plus infinity, shapes)
    │   └── NoValidPath     every path of a sentence scores minus infinity
    ├── CorpusError         a corpus file is malformed: names the file and the line
    └── RecipeError         a training recipe asks for something that cannot be done

No message holds the text of a user: a message may be logged.
"""

from collections.abc import Sequence

from pydantic import ValidationError


class TrellisError(Exception):
    """Base class of all exceptions that Trellis raises on purpose."""


class SettingError(TrellisError):
    """A setting has a value that cannot be used.

    Parameters
    ----------
    name : the environment variable, such as ``TRELLIS_PORT``.
    reason : what is wrong with its value.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason


class ModelError(TrellisError):
    """A model directory cannot be used.

    Parameters
    ----------
    file : the offending file or directory, as a path.
    reason : what is wrong with it, in one line.
    """

    def __init__(self, file: object, reason: str) -> None:
        # Both may come from a hostile file: one line, whatever they hold.
        self.file, self.reason = (" ".join(str(part).split()) for part in (file, reason))
        super().__init__(f"{self.file}: {self.reason}")


class ModelNotFound(TrellisError):
    """No model of that name lies in the models directory; `known` are those that do."""

    def __init__(self, known: Sequence[str], reason: str = "there is no such model") -> None:
        super().__init__(f"{reason}; there are: {', '.join(known) or 'none'}")
        self.known = tuple(known)


class NoDefaultModel(ModelNotFound):
    """A request names no model, and none of its task and tagset lies in the models directory."""

    def __init__(self, task: str, tagset: str | None, known: Sequence[str]) -> None:
        tags = f" with the tagset {tagset}" if tagset else ""
        super().__init__(known, f"no model answers /{task}{tags} by default")


class ModelNotLoaded(TrellisError):
    """The model lies in the models directory, but `TRELLIS_MODELS` does not name it."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the model {name} is not loaded; add it to TRELLIS_MODELS and restart to load it"
        )
        self.name = name


class InputError(TrellisError):
    """The caller's document or options are wrong.

    Parameters
    ----------
    detail : what is wrong, without the text itself.
    pointer : JSON pointer (RFC 6901) to the place in the request; "" is the whole.
    """

    def __init__(self, detail: str, pointer: str = "") -> None:
        super().__init__(detail)
        self.detail = detail
        self.pointer = pointer


class LimitExceeded(InputError):
    """Something is larger than a limit allows.

    Parameters
    ----------
    what : what is too large, such as "the text".
    limit : the largest number allowed.
    unit : what is counted, such as "characters".
    setting : the environment variable that sets the limit.
    pointer : JSON pointer to the place in the request.
    """

    def __init__(self, what: str, limit: int, unit: str, setting: str, pointer: str = "") -> None:
        super().__init__(f"{what} is over the limit of {limit} {unit} ({setting})", pointer)
        self.limit = limit


class ScoresError(TrellisError):
    """Scores that no decoder can use: NaN, plus infinity, or shapes that do not fit."""


class NoValidPath(ScoresError):
    """Every path of a sentence scores minus infinity, so none is the best."""

    def __init__(self, sentence: int) -> None:
        super().__init__(f"sentence {sentence}: every path scores minus infinity")
        self.sentence = sentence


class CorpusError(TrellisError):
    """A corpus file is malformed; `line` counts from 1 and is None where the file is at fault."""

    def __init__(self, file: object, line: int | None, reason: str) -> None:
        super().__init__(f"{file}:{line}: {reason}" if line else f"{file}: {reason}")
        self.file = str(file)
        self.line = line
        self.reason = reason


class RecipeError(TrellisError):
    """A training recipe asks for something that cannot be done."""


def first_fault(error: ValidationError) -> str:
    """Place and reason of the first fault that pydantic found, in one line, without the value."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else first["msg"]
