"""A server that does not start says why."""

import sys

import pytest

from benchmarks import servers
from benchmarks.environments import Unavailable
from benchmarks.servers import Server


def test_a_server_that_does_not_start_is_unavailable(monkeypatch):
    monkeypatch.setitem(servers.SERVERS, "broken", lambda: [sys.executable, "no.such.module:app"])
    with pytest.raises(Unavailable, match="No module named 'no'"):
        Server("broken")
