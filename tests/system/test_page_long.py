"""A long text on the page at `/`: the first part is drawn, the rest is there to ask for."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.api.conftest import Server, serving
from tests.system.browser import opened, serious

SENTENCE = "Kim Novak left New York City in 1891. "
WORDS = 9
LONG = SENTENCE * 2600  # a hundred thousand characters
DRAWN = 2000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with fast models and its own limits."""
    environment = {"TRELLIS_MODELS": "en-ner-crf,en-pos-crf"}
    log = tmp_path_factory.mktemp("page") / "log"
    with serving("service.wsgi:app", log, **environment) as server:
        yield server


def paste(page: Page, text: str) -> None:
    page.locator("#text").fill(text)
    words = f"{text.count(SENTENCE) * WORDS:,} words"
    expect(page.locator("#status")).to_contain_text(words)


@pytest.mark.parametrize("task", ["ner", "tag"])
def test_the_first_part_is_drawn(browser: Browser, server: Server, task: str) -> None:
    with opened(browser, f"{server.url}/#task={task}") as page:
        paste(page, LONG)
        note = page.locator("#texts .more")
        line = page.locator("#texts .running")
        drawn = page.locator("#texts .word").count()
        assert DRAWN <= drawn < DRAWN + WORDS
        expect(note).to_contain_text(f"The first {drawn:,} of 23,400 words are drawn.")
        assert serious(page) == []
        page.get_by_role("button", name="Draw 2,0").click()
        assert 2 * DRAWN <= page.locator("#texts .word").count() < 2 * DRAWN + 2 * WORDS
        # nothing is lost or doubled where two parts meet
        line.evaluate("l => { for (const s of l.querySelectorAll('.label, .tag')) s.remove(); }")
        shown = line.evaluate("l => l.textContent")
        assert LONG.startswith(shown)
        assert len(shown) > len(LONG) / 7


def test_the_end_is_drawn_too(browser: Browser, server: Server) -> None:
    text = SENTENCE * 250
    with opened(browser, f"{server.url}/#task=ner") as page:
        paste(page, text)
        expect(page.locator("#texts .more")).to_be_visible()
        page.locator("#texts .more button").press("Enter")
        expect(page.locator("#texts .more")).to_be_hidden()
        line = page.locator("#texts .running")
        expect(line).to_be_focused()  # the button is gone
        entities = line.locator("mark").count()
        expect(page.locator("#status")).to_contain_text(f"{entities} entities")
        line.evaluate("l => { for (const label of l.querySelectorAll('.label')) label.remove(); }")
        assert line.evaluate("l => l.textContent") == text


def test_the_tabs_are_bounded_and_copies_whole(browser: Browser, server: Server) -> None:
    with opened(browser, f"{server.url}/#task=tag") as page:
        paste(page, LONG)
        page.get_by_role("tab", name="Table").click()
        expect(page.locator("#panel tbody tr")).to_have_count(500)
        expect(page.locator("#panel .note")).to_contain_text("The first 500 of 23,400 rows")
        page.get_by_role("button", name="Copy the table").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert len(copied.splitlines()) == 23_401
        page.get_by_role("tab", name="JSON").click()
        expect(page.locator("#panel .note")).to_contain_text("The first 20,000 of")
        assert page.locator("#panel code").evaluate("code => code.textContent.length") == 20_000
        page.get_by_role("button", name="Copy", exact=True).click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        assert len(json.loads(page.evaluate("navigator.clipboard.readText()"))["tokens"]) == 23_400
