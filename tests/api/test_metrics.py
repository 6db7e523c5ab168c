"""`/metrics` of the app: what is counted, under which labels, and what never is."""

from contextlib import ExitStack
from pathlib import Path

import requests
from flask.testing import FlaskClient

from service.api.app import create_app
from service.api.monitoring import metrics
from service.api.monitoring.metrics import count_request
from service.api.monitoring.record import RequestRecord
from service.config import Settings
from service.store.registry import Registry
from tests.api.conftest import serving
from tests.api.fakes import FAILING_WORD, make_model_dir, rule_registry
from tests.api.scrapes import Scrape, increase
from tests.api.test_overload import Asking, begin_stream
from tests.api.test_server import TIMEOUT_S

STAGES = ("tokenize", "score", "decode", "serialise")


def scrape(client: FlaskClient) -> Scrape:
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer.content_type == "text/plain; version=0.0.4; charset=utf-8"
    return Scrape(answer.text)


def test_series_are_there_before_the_first_request(settings: Settings) -> None:
    client = create_app(settings, rule_registry()).test_client()
    found = scrape(client)
    for route, model in (
        ("/tag", "en-pos-crf"),
        ("/tag/batch", "en-upos-crf"),
        ("/ner", "en-ner-crf"),
        ("/ner/batch", "en-ner-crf"),
        ("/compat/huggingface", "en-ner-crf"),
        ("/compat/presidio/analyze", "en-ner-crf"),
    ):
        for status in ("200", "422", "500", "503", "504"):
            found("trellis_requests_total", route=route, model=model, status=status)
        found("trellis_request_duration_seconds_bucket", route=route, model=model, le="0.005")
        for stage in STAGES:
            found("trellis_stage_seconds_total", model=model, stage=stage)
        found("trellis_tokens_total", model=model)
    for reason in ("waiting", "streams", "bodies"):
        found("trellis_requests_rejected_total", reason=reason)
    found("trellis_requests_in_flight")
    found("trellis_requests_waiting")
    found("trellis_worker_exits_total")


def test_a_request_is_counted_once_with_its_route_model_and_status(client: FlaskClient) -> None:
    found = increase(
        lambda: scrape(client), lambda: client.post("/tag", json={"text": "the bill. 📷"})
    )
    labels = {"route": "/tag", "model": "en-pos-crf"}
    assert found("trellis_requests_total", **labels, status="200") == 1
    assert found("trellis_requests_total", route="/tag") == 1
    assert found("trellis_request_duration_seconds_count", **labels) == 1
    assert found("trellis_request_duration_seconds_bucket", **labels, le="+Inf") == 1
    assert found("trellis_documents_total", model="en-pos-crf") == 1
    assert found("trellis_tokens_total", model="en-pos-crf") == 4
    assert found("trellis_characters_total", model="en-pos-crf") == 11
    spent = [found("trellis_stage_seconds_total", model="en-pos-crf", stage=s) for s in STAGES]
    assert all(seconds > 0 for seconds in spent)
    assert sum(spent) <= found("trellis_request_duration_seconds_sum", **labels)


def test_the_documents_of_batches_and_of_streams_are_counted(client: FlaskClient) -> None:
    documents = [{"tokens": [["the", "bill"], ["a"]]}, {"text": 5}, {"text": "a"}]
    lines = '{"text": "the bill"}\n{"text": "a"}\n'

    def ask() -> None:
        client.post("/ner/batch", json={"documents": documents})
        headers = {"Content-Type": "application/x-ndjson"}
        client.post("/ner/batch", data=lines, headers=headers, buffered=True)

    found = increase(lambda: scrape(client), ask)
    assert found("trellis_requests_total", route="/ner/batch", status="200") == 2
    assert found("trellis_documents_total", model="en-ner-crf") == 4
    assert found("trellis_tokens_total", model="en-ner-crf") == 7
    assert found("trellis_characters_total", model="en-ner-crf") == 18
    for stage in STAGES:
        assert found("trellis_stage_seconds_total", model="en-ner-crf", stage=stage) > 0


def test_a_stream_counts_when_it_is_over(client: FlaskClient) -> None:
    headers = {"Content-Type": "application/x-ndjson"}

    def in_flight() -> float:
        return scrape(client)("trellis_requests_in_flight")

    before = in_flight()  # of other tests, some leave a stream open
    answer = client.post("/tag/batch", data='{"text": "the"}\n', headers=headers, buffered=False)
    assert in_flight() == before + 1
    answer.close()
    assert in_flight() == before


def test_errors_are_counted_by_status(client: FlaskClient) -> None:
    def ask() -> None:
        client.post("/tag", data=b"{")
        client.post("/tag", json={"text": 5})
        client.post("/tag", json={"text": FAILING_WORD})
        client.get("/tag")

    found = increase(lambda: scrape(client), ask)
    for status in ("415", "422", "500"):
        assert found("trellis_requests_total", route="/tag", status=status) == 1
    assert found("trellis_requests_total", route="none", status="405") == 1
    assert found("trellis_requests_in_flight") == 0


def test_what_clients_make_up_makes_no_series(client: FlaskClient) -> None:
    def ask() -> None:
        for i in range(20):
            client.get(f"/nowhere-{i}")
            client.get(f"/models/made-up-{i}")
            client.post("/tag", json={"text": "a", "model": f"made-up-{i}"})
            client.post("/tag", json={"text": "a"}, headers={"X-Request-ID": f"made-up-{i}"})
            client.open("/tag", method=f"M{i}")

    ask()
    found = increase(lambda: scrape(client), ask)
    assert found.new_series == set()
    assert found("trellis_requests_total", route="none", status="404") == 20
    assert found("trellis_requests_total", route="/models/<name>", status="404") == 20
    assert found("trellis_requests_total", route="/tag", model="", status="404") == 20


def test_a_histogram_has_all_its_buckets_from_the_first_request(client: FlaskClient) -> None:
    record = RequestRecord()
    record.route, record.status, record.duration_s = "/seldom-asked", 404, 0.3

    found = increase(lambda: scrape(client), lambda: count_request(record))
    buckets = [key for key in found.new_series if key[0].endswith("_bucket")]
    assert len(buckets) == len(metrics._BUCKETS)
    again = increase(lambda: scrape(client), lambda: count_request(record))
    assert again.new_series == set()


def test_nothing_of_the_text_is_in_the_metrics(client: FlaskClient) -> None:
    client.post("/ner", json={"text": "Zaphod Beeblebrox"})
    assert "Zaphod" not in client.get("/metrics").text


def test_probes_are_counted_but_are_no_load(client: FlaskClient) -> None:
    def ask() -> None:
        for path in ("/livez", "/readyz", "/health", "/metrics"):
            client.get(path)

    found = increase(lambda: scrape(client), ask)
    for path in ("/livez", "/readyz", "/health"):
        assert found("trellis_requests_total", route=path, model="", status="200") == 1
    assert found("trellis_requests_in_flight") == 0


def test_what_waits_and_what_has_no_place_is_counted(tmp_path: Path) -> None:
    limits = {"TRELLIS_MAX_RUNNING": "1", "TRELLIS_MAX_WAITING": "1", "TRELLIS_MAX_STREAMS": "1"}
    with serving("tests.api.served:app", tmp_path / "log", **limits) as server, ExitStack() as ends:

        def found(name: str, **labels: str) -> float:
            text = requests.get(f"{server.url}/metrics", timeout=TIMEOUT_S).text
            return Scrape(text)(name, **labels)

        asking = [Asking(server) for _ in range(3)]
        for one in asking:
            one.start()
        for _ in range(2):
            begin_stream(server, ends)
        while found("trellis_requests_waiting") != 1:
            pass
        while found("trellis_requests_rejected_total", reason="waiting") != 1:
            pass
        assert found("trellis_requests_rejected_total", reason="streams") == 1
        assert found("trellis_requests_total", route="none", model="", status="503") == 2
        assert found("trellis_requests_in_flight") == 2  # one that is tagged, and a stream
        server.release.touch()
        for one in asking:
            one.join()
        while found("trellis_requests_waiting") != 0:
            pass
        histogram = {"route": "/tag", "model": "en-pos-crf"}
        assert found("trellis_request_duration_seconds_count", **histogram) == 2


def test_the_models_that_are_loaded_and_what_their_caches_do(tmp_path: Path) -> None:
    make_model_dir(tmp_path, "en-pos-one")
    settings = Settings(models_dir=tmp_path, max_unseen_words=2)
    client = create_app(settings, Registry.open(settings)).test_client()
    found = scrape(client)
    info = {"model": "en-pos-one", "version": "1.0.0", "task": "tag", "architecture": "hmm"}
    assert found("trellis_model_info", **info) == 1
    assert 0 < found("trellis_model_load_seconds", model="en-pos-one") < 60

    def ask() -> None:
        for text in ("the x", "x", "x the"):
            client.post("/tag", json={"text": text})

    client.post("/tag", json={"text": "the"})  # tells what the check at start has done
    increased = increase(lambda: scrape(client), ask)
    unseen = "trellis_unseen_words_total"
    assert increased(unseen, model="en-pos-one", outcome="miss") == 1
    assert increased(unseen, model="en-pos-one", outcome="hit") == 2
    assert 0 < scrape(client)("trellis_unseen_words_kept", model="en-pos-one") <= 2
