"""`trellis health` against servers that are not there, or are others."""

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

READY = {"status": "ok", "version": "1.2.3", "models": [{"name": "a", "version": "2", "loaded": 0}]}


class Other(BaseHTTPRequestHandler):
    """Answers what it is told to."""

    status = 200
    answer = b""

    def do_GET(self):
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def ask(trellis):
    """Ask a server that gives one answer."""

    def ask(status, answer):
        handler = type("Handler", (Other,), {"status": status, "answer": answer})
        with HTTPServer(("127.0.0.1", 0), handler) as server:
            thread = threading.Thread(target=server.handle_request)
            thread.start()
            result = trellis("health", "--url", f"http://127.0.0.1:{server.server_port}")
            thread.join()
        return result

    return ask


def test_it_prints_the_version_and_the_models(ask):
    result = ask(200, json.dumps(READY).encode())
    assert (result.exit_code, result.stdout) == (0, "ok, version 1.2.3\n  a 2 (not loaded)\n")


@pytest.mark.parametrize(
    ("status", "answer", "said"),
    [
        (404, b"<html>", ": 404 Not Found\n"),
        (503, json.dumps({**READY, "status": "unready"}).encode(), ": 503"),
        (200, b"<html>", "/health: the answer is no JSON\n"),
        (200, b'{"status": "UP"}', ": the answer is not that of Trellis\n"),
        (200, b"[]", ": the answer is not that of Trellis\n"),
    ],
)
def test_another_answer_is_told_in_one_line(ask, status, answer, said):
    result = ask(status, answer)
    assert (result.exit_code, result.stdout) == (1, "")
    assert said in result.stderr
    assert "http://127.0.0.1:" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_nobody_there_is_told(trellis):
    result = trellis("health", "--url", "http://127.0.0.1:9")
    assert result.exit_code == 1
    assert result.stderr == "Error: GET http://127.0.0.1:9/health: Connection refused\n"


def test_a_server_that_does_not_answer_is_told(trellis):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        result = trellis("health", "--url", url, "--timeout", "0.1")
    assert result.exit_code == 1
    assert result.stderr == f"Error: GET {url}/health: timed out\n"


def test_a_name_that_cannot_be_one_is_told(trellis):
    result = trellis("health", "--url", "http://ü..com")  # requests lets another's error out
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: GET http://ü..com/health: ")


@pytest.mark.parametrize(
    "url",
    [
        *("", "localhost:8080", "ftp://a", "http://", "http://[::1", "http://a:99999"),
        *("http://a/?b", "http://a#b", "http://a\n", "http://a b"),
    ],
)
def test_a_url_that_is_none_is_a_wrong_use(trellis, url):
    result = trellis("health", "--url", url)
    assert result.exit_code == 2
    assert "'--url': expected http://HOST:PORT" in result.stderr


@pytest.mark.parametrize("timeout", ["0", "-1", "nan", "inf", "3601"])
def test_a_timeout_out_of_range_is_a_wrong_use(trellis, timeout):
    result = trellis("health", "--timeout", timeout)
    assert result.exit_code == 2
    assert "'--timeout': expected more than 0 and at most 3600 seconds" in result.stderr
