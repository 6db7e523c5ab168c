"""The image's health check: exit code 0 where the server in this container is ready, else 1.

`trellis health` says more, but starts ten times as slowly, and this runs every ten seconds.
"""

import http.client
import os
import sys

_TIMEOUT_S = 4  # below the Dockerfile's, which would end it without a word

port = int(os.environ.get("TRELLIS_PORT") or 8080)
try:
    connection = http.client.HTTPConnection("localhost", port, timeout=_TIMEOUT_S)
    connection.request("GET", "/readyz")
    answer = connection.getresponse()
except OSError as error:
    sys.exit(f"no answer on port {port}: {error}")
print(answer.read().decode())
sys.exit(answer.status != 200)
