"""What the page at `/` does where no answer comes, or a problem, or one that is late."""

import json
from contextlib import ExitStack
from pathlib import Path

import requests
from playwright.sync_api import Browser, Page, Route, expect

from tests.api.conftest import Server, free_port, serving
from tests.api.test_access import write_keys
from tests.system.browser import TIMEOUT_S, opened, serious

VILLANUEVA = "Jane Villanueva of United Airlines"
TOO_LONG = "a" * 501  # see the fixture `server`
KEY = "the-key-of-the-page"


def test_an_older_answer_never_replaces_a_newer(page: Page) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        if "Warsaw" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/ner", hold)
    page.locator("#text").fill("Marie Curie left Warsaw")
    page.wait_for_timeout(600)
    assert len(held) == 1
    page.locator("#text").fill("Angela Merkel left Berlin")
    expect(page.locator("#texts mark")).to_have_text(["Angela Merkel", "Berlin"])
    held[0].fulfill(status=500, body="late")
    page.wait_for_timeout(300)
    expect(page.locator("#texts mark")).to_have_text(["Angela Merkel", "Berlin"])
    expect(page.locator("#problem")).to_be_hidden()


def test_a_problem_is_shown(browser: Browser, server: Server) -> None:
    with opened(browser, server.url, expects_errors=True) as page:
        page.locator("#text").fill(TOO_LONG)
        problem = requests.post(
            f"{server.url}/ner", json={"text": TOO_LONG}, timeout=TIMEOUT_S
        ).json()
        expect(page.get_by_role("alert")).to_be_visible()
        expect(page.locator("#problem-title")).to_have_text(problem["title"])
        expect(page.locator("#problem-detail")).to_have_text(problem["detail"])
        expect(page.locator("#answer")).to_be_hidden()
        page.locator("#text").fill(VILLANUEVA)
        expect(page.locator("#texts mark")).to_have_count(2)
        expect(page.get_by_role("alert")).to_be_hidden()


def test_without_the_service_it_says_so(browser: Browser, server: Server) -> None:
    with opened(browser, server.url, expects_errors=True) as page:
        expect(page.locator("[role=grid]")).to_be_visible()
        page.route("**/ner", lambda route: route.abort())
        page.locator("#text").fill("Angela Merkel left Berlin")
        expect(page.locator("#problem-title")).to_have_text("No answer")
        # the answer before stays in sight, faded, and cannot be taken for this one
        expect(page.locator("#texts mark")).to_have_text(["Jane Villanueva", "United Airlines"])
        assert page.locator("#answer").evaluate("answer => answer.inert")
        assert serious(page) == []
        page.unroute("**/ner")  # it asks again by itself
        expect(page.locator("#texts mark")).to_have_text(["Angela Merkel", "Berlin"])
        expect(page.get_by_role("alert")).to_be_hidden()
        assert not page.locator("#answer").evaluate("answer => answer.inert")


def test_it_waits_as_long_as_the_service_wants(browser: Browser, server: Server) -> None:
    problem = {"title": "Overloaded", "detail": "Too much to do.", "status": 503}
    asked: list[str] = []

    def refuse(route: Route) -> None:
        asked.append(route.request.url)
        headers = {"Retry-After": "3600", "Content-Type": "application/problem+json"}
        route.fulfill(status=503, headers=headers, body=json.dumps(problem))

    with opened(browser, server.url, expects_errors=True) as page:
        expect(page.locator("[role=grid]")).to_be_visible()
        page.route("**/ner", refuse)
        page.locator("#text").fill("Angela Merkel left Berlin")
        expect(page.locator("#problem-title")).to_have_text(problem["title"])
        expect(page.locator("#problem-detail")).to_have_text(problem["detail"])
        expect(page.locator("#problem-note")).to_contain_text("asked again by itself")
        page.wait_for_timeout(3000)  # longer than the first wait without a header
        assert len(asked) == 1
        page.unroute("**/ner")
        page.get_by_role("button", name="Try again").click()
        expect(page.locator("#texts mark")).to_have_text(["Angela Merkel", "Berlin"])


def test_a_server_may_come_back_with_other_models(browser: Browser, tmp_path: Path) -> None:
    def models(*names: str) -> dict[str, str]:
        return {"TRELLIS_MODELS": ",".join(names), "TRELLIS_PORT": port}

    port = str(free_port())
    with ExitStack() as stack:
        with serving("service.wsgi:app", tmp_path / "1", **models("en-ner-crf")) as server:
            page = stack.enter_context(opened(browser, server.url, expects_errors=True))
            expect(page.locator("[role=grid]")).to_be_visible()
        with serving("service.wsgi:app", tmp_path / "2", **models("en-ner-bilstm-crf")):
            page.locator("#text").fill("Angela Merkel left Berlin")
            expect(page.locator("#problem-title")).to_have_text("Model not loaded")
            page.get_by_role("button", name="Try again").click()
            expect(page.locator("#model")).to_have_value("en-ner-bilstm-crf")
            expect(page.locator("#texts mark")).to_have_text(["Angela Merkel", "Berlin"])


def test_an_answer_that_is_none_is_a_problem(browser: Browser, server: Server) -> None:
    with opened(browser, server.url) as page:
        expect(page.locator("[role=grid]")).to_be_visible()
        page.route("**/ner", lambda route: route.fulfill(status=200, body="<p>Log in</p>"))
        page.locator("#text").fill("Angela Merkel left Berlin")
        expect(page.locator("#problem-detail")).to_contain_text("between this page and the service")
        page.unroute("**/ner")
        expect(page.locator("#texts mark")).to_have_text(["Angela Merkel", "Berlin"])


def test_a_trellis_that_fails_can_be_asked_again(browser: Browser, server: Server) -> None:
    def refuse(route: Route) -> None:
        if "explain" in (route.request.post_data or ""):
            route.abort()
        else:
            route.continue_()

    with opened(browser, server.url, expects_errors=True) as page:
        expect(page.locator("[role=grid]")).to_be_visible()
        page.route("**/ner", refuse)
        page.locator("#text").fill("Angela Merkel left Berlin")
        expect(page.get_by_text("No answer: ")).to_be_visible()
        expect(page.locator("#texts mark")).to_have_text(["Angela Merkel", "Berlin"])
        page.unroute("**/ner")
        page.get_by_role("button", name="Try again").click()
        expect(page.locator("[role=grid]")).to_be_visible()


def test_a_key_is_asked_for(browser: Browser, tmp_path: Path) -> None:
    environment = {
        "TRELLIS_MODELS": "en-pos-janet",
        "TRELLIS_API_KEYS_FILE": str(write_keys(tmp_path, KEY)),
    }
    with (
        serving("service.wsgi:app", tmp_path / "log", **environment) as server,
        opened(browser, f"{server.url}/#task=tag", expects_errors=True) as page,
    ):
        field = page.get_by_label("This service asks for an API key")
        expect(field).to_be_focused()
        field.fill("a wrong one ключ")
        page.get_by_role("button", name="Use it").click()
        expect(page.locator("#problem-title")).to_have_text("Unauthorized")
        assert serious(page) == []
        field.fill(KEY)
        page.keyboard.press("Enter")
        expect(page.locator("#texts .tag").first).to_have_text("NNP")
        expect(field).to_be_hidden()
        page.reload()
        expect(page.locator("#texts .tag").first).to_have_text("NNP")
        for tab in ("curl", "Python"):
            page.get_by_role("tab", name=tab).click()
            expect(page.locator("#panel code")).to_contain_text("TRELLIS_API_KEY")
            expect(page.locator("#panel code")).not_to_contain_text(KEY)
        assert KEY not in page.url
