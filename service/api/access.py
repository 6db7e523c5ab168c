"""Who may ask: API keys, and the web pages of other origins. Both are optional.

A file holds the SHA-256 of each key, never a key. One round is enough, since keys are random and
long, not words that people choose.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable
from pathlib import Path

from flask import Flask, Request, Response, request

from service.api.monitoring.trace_context import REQUEST_ID, SERVER_TIMING
from service.api.problems import UNAUTHORIZED, Problem
from service.config import Settings
from service.errors import SettingError

KEY_HEADER = "X-API-Key"
# For monitors, and for people who look before they have a key.
_FREE = frozenset(
    ("/", "/livez", "/readyz", "/health", "/metrics", "/version", "/openapi.json", "/docs")
)
_FREE_FOLDERS = ("/docs/", "/static/")
_HASH = re.compile(r"[0-9a-f]{64}")
_EXPOSED = f"Retry-After, {REQUEST_ID}, {SERVER_TIMING}"
_CORS_HEADERS = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Accept, Authorization, Content-Type, traceparent, "
    f"{REQUEST_ID}, {KEY_HEADER}",
    "Access-Control-Max-Age": "600",
}


def guard(app: Flask, settings: Settings) -> None:
    """Let in those who have a key, where keys are set, and the pages of the origins that are.

    Raises
    ------
    SettingError
        Where the file of the keys cannot be used.
    """
    if settings.api_keys_file is not None:
        hashes = read_hashes(settings.api_keys_file)
        app.before_request(lambda: _check_key(request, hashes))
    if settings.origins:
        app.after_request(lambda response: _allow_origin(response, request, settings.origins))


def read_hashes(file: Path) -> tuple[bytes, ...]:
    """The hashes of a file: one a line as `sha256sum` writes it; lines of `#` are comments.

    Raises
    ------
    SettingError
        Where it cannot be read, a line is none, or there is no hash; never quotes the file.
    """
    name = "TRELLIS_API_KEYS_FILE"
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(name, f"{file} cannot be read: {type(error).__name__}") from error
    hashes = []
    for number, line in enumerate(lines, start=1):
        word = line.partition(" ")[0]
        if _HASH.fullmatch(word):
            hashes.append(bytes.fromhex(word))
        elif line.strip() and not line.startswith("#"):
            raise SettingError(name, f"{file}, line {number}: it begins with no SHA-256 in hex")
    if not hashes:
        raise SettingError(name, f"{file} holds no SHA-256")
    return tuple(hashes)


def _check_key(request: Request, hashes: Iterable[bytes]) -> None:
    path = request.path
    if request.method == "OPTIONS" or path in _FREE or path.startswith(_FREE_FOLDERS):
        return
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    key = token.strip() if scheme.lower() == "bearer" else request.headers.get(KEY_HEADER, "")
    found = hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
    # Every hash is compared, and each in constant time: how long it takes tells nothing.
    if not sum([hmac.compare_digest(found, known) for known in hashes]):
        detail = f"an API key is needed, as Authorization: Bearer KEY or as {KEY_HEADER}: KEY"
        raise Problem(UNAUTHORIZED, detail, headers={"WWW-Authenticate": "Bearer"})


def _allow_origin(response: Response, request: Request, origins: tuple[str, ...]) -> Response:
    response.vary.add("Origin")
    origin = request.headers.get("Origin")
    if origin and (origin in origins or "*" in origins):
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Expose-Headers"] = _EXPOSED
        if request.method == "OPTIONS":
            response.headers.update(_CORS_HEADERS)
    return response
