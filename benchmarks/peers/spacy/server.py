"""spaCy's recogniser behind Flask: what `/ner` and `/ner/batch` answer, from another model.

gunicorn loads it before it forks, as it does Trellis.
"""

import orjson
from flask import Flask, Response, request
from spacy.tokens import Doc

from benchmarks.peers.spacy.program import load

app = Flask(__name__, static_folder=None)
pipeline = load("ner")


@app.get("/readyz")
def readyz() -> Response:
    """Ready as soon as it is served."""
    return _json({"status": "ok"})


@app.post("/ner")
def ner() -> Response:
    """The entities of one document."""
    return _json(_answer(pipeline(orjson.loads(request.get_data())["text"])))


@app.post("/ner/batch")
def ner_batch() -> Response:
    """The entities of many documents."""
    documents = orjson.loads(request.get_data())["documents"]
    texts = [document["text"] for document in documents]
    return _json({"documents": [_answer(document) for document in pipeline.pipe(texts)]})


def _answer(document: Doc) -> dict[str, object]:
    return {
        "tokens": [
            {"text": token.text, "start": token.idx, "end": token.idx + len(token)}
            for token in document
        ],
        "spans": [
            {"label": e.label_, "text": e.text, "start": e.start_char, "end": e.end_char}
            for e in document.ents
        ],
    }


def _json(value: object) -> Response:
    return Response(orjson.dumps(value), content_type="application/json")
