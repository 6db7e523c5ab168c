"""The HTTP surface: bytes to requests, annotations to JSON. `app.create_app` wires it."""
