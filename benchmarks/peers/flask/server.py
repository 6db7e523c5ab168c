"""Routes that answer a constant and look at nothing."""

from flask import Flask, Response

app = Flask(__name__, static_folder=None)


@app.get("/readyz")
def readyz() -> Response:
    """Ready as soon as it is served."""
    return Response(b"{}", content_type="application/json")


@app.post("/ner")
@app.post("/ner/batch")
def ner() -> Response:
    """Nothing, as fast as it goes."""
    return Response(b"{}", content_type="application/json")
