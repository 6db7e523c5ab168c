"""A client of the service. It needs requests, and nothing else of this package.

>>> with TrellisClient("http://localhost:8080") as client:
...     answer = client.ner(text="Jane Villanueva of United Airlines")
"""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, NotRequired, Required, Self, TypedDict, Unpack
from urllib.parse import quote

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

OffsetUnit = Literal["codepoint", "utf16", "utf8"]
Tagset = Literal["ptb", "ud"]
Sentences = Sequence[Sequence[str]]

_LONGEST_WAIT_S = 30
_PROBES = ("/livez", "/readyz", "/health")


class TrellisClientError(Exception):
    """Base class of what this client raises."""


class ConnectionFailed(TrellisClientError):
    """No answer came, or none that is of Trellis."""


class ProblemError(TrellisClientError):
    """The service answered with an error; `type` is stable, see the documentation of the API."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.type: str = problem.get("type", "about:blank")
        self.title: str = problem.get("title", "")
        self.detail: str = problem.get("detail", "")
        self.pointer: str | None = problem.get("pointer")
        place = f" at {self.pointer}" if self.pointer else ""
        super().__init__(f"{status} {self.title}: {self.detail}{place}")


class ModelName(TypedDict):
    name: str
    version: str


class Sentence(TypedDict):
    start: int | None
    end: int | None
    token_start: int
    token_end: int
    split: NotRequired[Literal[True]]
    n_best: NotRequired["list[TagSequence]"]


class Token(TypedDict):
    text: str
    start: int | None
    end: int | None
    tag: str
    confidence: NotRequired[float | None]
    marginals: NotRequired[dict[str, float] | None]


class Span(TypedDict):
    label: str
    text: str
    start: int | None
    end: int | None
    token_start: int
    token_end: int
    confidence: NotRequired[float | None]


class TagSequence(TypedDict):
    log_prob: float | None
    tags: list[str]
    spans: NotRequired[list[Span]]


class FiredFeature(TypedDict):
    feature: str
    weight: float | None


class Candidate(TypedDict):
    tag: str
    transition: float | None
    emission: float | None
    features: list[FiredFeature]


class TokenExplanation(TypedDict):
    best: Candidate
    runner_up: Candidate | None


class SentenceTrellis(TypedDict):
    score: float
    best_path: list[int]
    overruled: list[int]
    emissions: list[list[float | None]]
    cells: list[list[float | None]]
    back_pointers: list[list[int | None]]


class Explanation(TypedDict):
    tags: list[str]
    start: list[float | None] | None
    transitions: list[list[float | None]] | None
    end: list[float | None] | None
    sentences: list[SentenceTrellis]
    tokens: list[TokenExplanation] | None


class TagDocument(TypedDict):
    sentences: list[Sentence]
    tokens: list[Token]
    explanation: NotRequired[Explanation]


class NerDocument(TagDocument):
    spans: list[Span]


class FailedDocument(TypedDict):
    error: dict[str, Any]


class TagAnswer(TagDocument):
    model: ModelName
    offset_unit: OffsetUnit


class NerAnswer(NerDocument):
    model: ModelName
    offset_unit: OffsetUnit


class TagBatchAnswer(TypedDict):
    model: ModelName
    offset_unit: OffsetUnit
    documents: list[TagDocument | FailedDocument]


class NerBatchAnswer(TypedDict):
    model: ModelName
    offset_unit: OffsetUnit
    documents: list[NerDocument | FailedDocument]


class ModelState(ModelName):
    loaded: bool


class ModelDescription(ModelState):
    description: str
    language: str
    task: Literal["tag", "ner"]
    tagset: str | None
    architecture: str
    labels: list[str]
    licence: str
    sources: list[dict[str, Any]]
    scores: list[dict[str, Any]]
    default: bool


class Health(TypedDict):
    status: str
    version: str
    models: list[ModelState]


class Document(TypedDict, total=False):
    """Exactly one of the two."""

    text: str
    tokens: Sentences


class Constraint(TypedDict, total=False):
    """Either `start` and `end` or `token_start` and `token_end`; `label` and `mode`."""

    start: int
    end: int
    token_start: int
    token_end: int
    label: Required[str]
    mode: Required[Literal["span", "inside", "forbid"]]


class ConstrainedDocument(Document, total=False):
    constraints: Sequence[Constraint]


class DictionaryEntry(TypedDict):
    phrase: str
    label: str
    weight: float
    match_case: NotRequired[bool]


class _Options(TypedDict, total=False):
    model: str | None
    offset_unit: OffsetUnit
    sentences: bool
    confidence: bool
    marginals: bool
    n_best: int
    explain: bool


class TagOptions(_Options, total=False):
    tagset: Tagset | None


class NerOptions(_Options, total=False):
    labels: Sequence[str] | None
    threshold: float | None
    dictionary: Sequence[DictionaryEntry]


class TagRequest(Document, TagOptions):
    pass


class NerRequest(ConstrainedDocument, NerOptions):
    pass


class TrellisClient:
    """Asks a Trellis service. Every call raises a `TrellisClientError` where it fails.

    Parameters
    ----------
    base_url : where the service is.
    timeout_s : longest wait for a connection, and between two pieces of an answer.
    retries : how often a request is sent again where the service says 503 or refuses to connect;
        it waits as ``Retry-After`` says, for 30 seconds at most. Probes are never retried.
    """

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:8080",
        *,
        timeout_s: float = 60.0,
        retries: int = 3,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._timeout_s = timeout_s
        self._session = requests.Session()
        patient = Retry(
            total=retries,
            read=False,
            status_forcelist=(503,),
            allowed_methods=None,  # tagging changes nothing, so a POST may be sent again
            backoff_factor=0.2,
            retry_after_max=_LONGEST_WAIT_S,
            raise_on_status=False,
        )
        self._session.mount(self._base_url, HTTPAdapter(max_retries=patient))
        for probe in _PROBES:
            self._session.mount(self._base_url + probe, HTTPAdapter(max_retries=0))

    def tag(self, **request: Unpack[TagRequest]) -> TagAnswer:
        """Tag the parts of speech of one document."""
        answer: TagAnswer = self._ask("POST", "/tag", request)
        return answer

    def ner(self, **request: Unpack[NerRequest]) -> NerAnswer:
        """Find the named entities of one document; `labels` keeps the spans of these only."""
        answer: NerAnswer = self._ask("POST", "/ner", request)
        return answer

    def tag_batch(
        self, documents: Sequence[Document], **options: Unpack[TagOptions]
    ) -> TagBatchAnswer:
        """Tag many documents; each is answered in its place, with its tags or its own error."""
        body = {"documents": documents, **options}
        answer: TagBatchAnswer = self._ask("POST", "/tag/batch", body)
        return answer

    def ner_batch(
        self, documents: Sequence[ConstrainedDocument], **options: Unpack[NerOptions]
    ) -> NerBatchAnswer:
        """Find the named entities of many documents, as `tag_batch` tags them."""
        body = {"documents": documents, **options}
        answer: NerBatchAnswer = self._ask("POST", "/ner/batch", body)
        return answer

    def models(self) -> list[ModelDescription]:
        """All models, loaded or not."""
        answer: list[ModelDescription] = self._ask("GET", "/models")["models"]
        return answer

    def model(self, name: str) -> ModelDescription:
        """One model."""
        answer: ModelDescription = self._ask("GET", f"/models/{quote(name, safe='')}")
        return answer

    def health(self) -> Health:
        """Version, models and state; a `ProblemError` of status 503 where it is not ready."""
        answer: Health = self._ask("GET", "/health")
        return answer

    def ready(self) -> bool:
        """Whether the service can tag."""
        try:
            self._ask("GET", "/readyz")
        except ProblemError as error:
            if error.status == requests.codes.service_unavailable:
                return False
            raise
        return True

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Any:
        url = self._base_url + path
        try:
            response = self._session.request(method, url, json=body, timeout=self._timeout_s)
        except requests.RequestException as error:
            raise ConnectionFailed(f"{method} {url}: {type(error).__name__}") from error
        try:
            answer = response.json()
        except requests.JSONDecodeError:
            answer = None
        if not response.ok:
            problem = answer if isinstance(answer, dict) else {"title": response.reason}
            raise ProblemError(response.status_code, problem)
        if answer is None:
            raise ConnectionFailed(f"{method} {url}: the answer is no JSON")
        return answer
