"""A client of the service. It needs requests, and nothing else of this package.

>>> with TrellisClient("http://localhost:8080") as client:
...     answer = client.ner(text="Jane Villanueva of United Airlines")
"""

import contextlib
import json
import socket
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from types import TracebackType
from typing import Any, Literal, NotRequired, Required, Self, TypedDict, Unpack
from urllib.parse import quote, urlencode, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError
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
        detail = f": {self.detail}" if self.detail else ""
        place = f" at {self.pointer}" if self.pointer else ""
        super().__init__(f"{status} {self.title}{detail}{place}")


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
    index: NotRequired[int]


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
    api_key : the key, where the service asks for one.
    """

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:8080",
        *,
        timeout_s: float = 60.0,
        retries: int = 3,
        api_key: str | None = None,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._timeout_s = timeout_s
        self._session = requests.Session()
        self._headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
        self._session.headers.update(self._headers)
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

    def tag_stream(
        self, documents: Iterable[Document], **options: Unpack[TagOptions]
    ) -> Iterator[TagAnswer | FailedDocument]:
        """Tag any number of documents, in bounded memory: their answers come while they are sent.

        The documents are taken by a thread of their own. A `ProblemError` ends the stream where
        the service does; it gives up a client that neither sends nor reads for its time limit.
        """
        return self._stream("/tag/batch", documents, options)

    def ner_stream(
        self, documents: Iterable[ConstrainedDocument], **options: Unpack[NerOptions]
    ) -> Iterator[NerAnswer | FailedDocument]:
        """Find the named entities of any number of documents, as `tag_stream` tags them."""
        return self._stream("/ner/batch", documents, options)

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

    def _stream(
        self, path: str, documents: Iterable[Document], options: Mapping[str, Any]
    ) -> Iterator[Any]:
        query = urlencode(list(_parameters(options)))
        stream = _Stream(
            f"{self._base_url}{path}?{query}", documents, self._headers, self._timeout_s
        )
        try:
            yield from stream.answers()
        finally:
            stream.close()

    def _ask(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Any:
        url = self._base_url + path
        try:
            response = self._session.request(method, url, json=body, timeout=self._timeout_s)
        except (requests.RequestException, HTTPError) as error:  # of a wrong host it is either
            raise ConnectionFailed(f"{method} {url}: {_cause(error)}") from error
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


def _cause(error: BaseException) -> str:
    """What the system said of it, such as "Connection refused"; else the name of the exception."""
    first = error
    while (before := first.__cause__ or first.__context__) is not None:
        first = before
    said = (first.strerror or str(first)) if isinstance(first, OSError) else ""
    return said or type(error).__name__


def _parameters(options: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Options as the query of a stream has them: `labels` one by one, what is no string as JSON."""
    for name, value in options.items():
        if name == "labels" and value is not None:
            yield from ((name, label) for label in value)
        elif value is not None:
            yield name, value if isinstance(value, str) else json.dumps(value)


class _Stream:
    """Sends documents by a thread of its own, while their answers are read.

    If one thread did both, the two sides could wait for each other for ever: the service for its
    answers to be read, the client for its documents to be taken.
    """

    def __init__(
        self,
        url: str,
        documents: Iterable[Document],
        headers: Mapping[str, str],
        timeout_s: float,
    ) -> None:
        self._url = url
        self._documents = documents
        self._sent = 0
        self._failure: Exception | None = None
        try:
            self._connection = _connected(url, headers, timeout_s)
        except (OSError, HTTPException) as error:
            raise self._broken(_cause(error)) from error
        self._socket: socket.socket = self._connection.sock
        self._thread = threading.Thread(target=self._send, daemon=True)
        self._thread.start()

    def answers(self) -> Iterator[Any]:
        """The answers in order; raises what ended the stream before its end."""
        answered = 0
        for answer in self._lines():
            if "error" in answer and "index" not in answer:
                raise self._failure or ProblemError(answer["error"]["status"], answer["error"])
            yield answer
            answered += 1
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        if answered != self._sent:
            raise self._broken(f"{self._sent} documents were sent, {answered} answered")

    def close(self) -> None:
        """Close the connection; a thread that still sends fails, and ends."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def _lines(self) -> Iterator[Any]:
        try:
            with self._connection.getresponse() as response:
                if response.status != requests.codes.ok:
                    raise ProblemError(response.status, _problem(response))
                for line in response:
                    yield json.loads(line)
        except (OSError, HTTPException, ValueError) as error:
            raise self._broken(_cause(error)) from error

    def _send(self) -> None:
        try:
            for document in self._documents:
                line = json.dumps(document).encode() + b"\n"
                if not self._delivered(b"%x\r\n%b\r\n" % (len(line), line)):
                    return
                self._sent += 1
            self._delivered(b"0\r\n\r\n")
        except Exception as error:  # of the documents: said to whoever reads the answers
            self._failure = error
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)

    def _delivered(self, data: bytes) -> bool:
        try:
            self._socket.sendall(data)
        except OSError:  # whoever reads the answers learns why
            return False
        return True

    def _broken(self, reason: str) -> ConnectionFailed:
        return ConnectionFailed(f"POST {self._url}: {reason}")


def _connected(url: str, headers: Mapping[str, str], timeout_s: float) -> HTTPConnection:
    """A connection on which the head of a POST has been sent."""
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=timeout_s)
    connection.putrequest("POST", f"{parts.path}?{parts.query}")
    connection.putheader("Content-Type", "application/x-ndjson")
    connection.putheader("Transfer-Encoding", "chunked")
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    return connection


def _problem(response: HTTPResponse) -> dict[str, Any]:
    try:
        problem = json.loads(response.read())
    except ValueError:
        problem = None
    return problem if isinstance(problem, dict) else {"title": response.reason}
