"""Every setting, once: its environment variable, its default and its meaning."""

import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from service.errors import SettingError

_PREFIX = "TRELLIS_"
_DAY_S = 86_400  # a socket takes no timeout of centuries, and no infinite one
_CHECKOUT_MODELS = Path(__file__).resolve().parent.parent / "models"
_IMAGE_MODELS = Path("/models")


class Settings(BaseModel):
    """The settings of the service; each is read from ``TRELLIS_`` plus its name in capitals."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8080, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    workers: int = Field(
        0, ge=0, le=256, description="Worker processes; 0 takes one for each CPU of the container."
    )
    max_running: int = Field(4, ge=1, le=256, description="Requests that a worker tags at once.")
    max_waiting: int = Field(
        128,
        ge=0,
        le=1024,
        description="Requests that wait for that in each worker; one more is answered by 503.",
    )
    max_streams: int = Field(
        4, ge=1, le=256, description="Streams of each worker; one more is answered by 503."
    )
    request_timeout_s: float = Field(
        60.0,
        gt=0,
        le=_DAY_S,
        description="Longest time for a request, or some lines of a stream, to wait and be tagged, "
        "in seconds; then it is given up and answered by 504.",
    )
    models_dir: Path | None = Field(
        None,
        description="Directory of the models; else /models where it exists, else the checkout's.",
    )
    models: str = Field(
        "",
        description="Names of the models to load, separated by commas; the first of each task "
        "and tagset is its default. Empty loads the default of each task and tagset, and "
        "with TRELLIS_DEMO the textbook's.",
    )
    max_body_bytes: int = Field(
        16_000_000, ge=1, le=2**31, description="Largest request body, in bytes."
    )
    max_text_chars: int = Field(
        1_000_000, ge=1, description="Longest text of one document, in code points."
    )
    max_documents: int = Field(1_000, ge=1, description="Most documents in one batch request.")
    max_sentence_tokens: int = Field(
        10_000, ge=1, description="A longer sentence is split at a token boundary and marked."
    )
    max_analysed_tokens: int = Field(
        10_000, ge=1, description="Most tokens of a request for marginals or the n best."
    )
    max_explained_tokens: int = Field(
        200, ge=1, description="Most tokens of a request for explanations."
    )
    client_timeout_s: float = Field(
        30.0,
        gt=0,
        le=_DAY_S,
        description="Longest time for a request to arrive, and for 64 kB of its answer to be "
        "taken, in seconds.",
    )
    stream_timeout_s: float = Field(
        30.0,
        gt=0,
        le=_DAY_S,
        description="Longest wait for the client of a stream to send or to take more, in seconds.",
    )
    drain_s: float = Field(
        0.0,
        ge=0,
        le=20,
        description="Time from SIGTERM, when /readyz turns 503, to the stop of accepting requests, "
        "in seconds; 5 in the image.",
    )
    api_keys_file: Path | None = Field(
        None,
        description="File with the SHA-256 of each API key, a line each; unset asks for no key.",
    )
    cors_origins: str = Field(
        "",
        description="Origins whose web pages may ask, separated by commas; * for all.",
    )
    demo: bool = Field(True, description="Whether / is a page to try the service on; else a 404.")
    log_requests: bool = Field(
        True, description="Whether each request gets a line of JSON on stdout; probes get none."
    )
    tracing: bool = Field(
        False,
        description="Whether requests are traced by OpenTelemetry, as its own OTEL_ variables say; "
        "needs the extra tracing.",
    )
    metrics_dir: Path | None = Field(
        None,
        description="Folder in which workers count for /metrics, emptied at start; unset makes one "
        "in memory.",
    )
    max_unseen_words: int = Field(
        20_000,
        ge=0,
        le=1_000_000,
        description="Words outside a model's table whose rows are kept.",
    )

    @property
    def origins(self) -> tuple[str, ...]:
        """The origins in `cors_origins`, without blanks; empty where it is not set."""
        return _parts(self.cors_origins)

    @property
    def model_names(self) -> tuple[str, ...]:
        """The names in `models`, in order, without blanks; empty where it is not set."""
        return _parts(self.models)

    @property
    def models_path(self) -> Path:
        """The directory of the models."""
        if self.models_dir is not None:
            return self.models_dir
        return _IMAGE_MODELS if _IMAGE_MODELS.is_dir() else _CHECKOUT_MODELS


def _variable(name: str) -> str:
    """The environment variable of a setting."""
    return _PREFIX + name.upper()


def _parts(value: str) -> tuple[str, ...]:
    return tuple(word for part in value.split(",") if (word := part.strip()))


def load_settings() -> Settings:
    """Read the settings from the environment, where an empty variable counts as unset.

    Raises
    ------
    SettingError
        Where a variable has a value that cannot be used; names the variable.
    """
    variables = {name: os.environ.get(_variable(name)) for name in Settings.model_fields}
    try:
        return Settings.model_validate({n: value for n, value in variables.items() if value})
    except ValidationError as error:
        first = error.errors()[0]
        raise SettingError(_variable(str(first["loc"][0])), first["msg"]) from error
