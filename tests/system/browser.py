"""The page at `/` in Debian's Chromium, driven by Playwright, and what it complains of."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.api.conftest import Server

CHROMIUM = "/usr/bin/chromium"
TIMEOUT_S = 300  # for a machine that has much else to do
_FAILED_LOAD = "Failed to load resource"

expect.set_options(timeout=1000 * TIMEOUT_S)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window."""
    with sync_playwright() as playwright:
        # There is no sandbox for root, who runs the tests on a new machine.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Browser, url: str, *, expects_errors: bool = False, **options: Any
) -> Iterator[Page]:
    """A page in a profile of its own. In the end it must have complained of nothing.

    Chromium complains of every answer that is an error; `expects_errors` allows that.
    """
    complaints: list[str] = []
    context = browser.new_context(**options)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.set_default_timeout(1000 * TIMEOUT_S)
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(url)
    try:
        yield page
    finally:
        context.close()
    if expects_errors:
        complaints = [text for text in complaints if not text.startswith(_FAILED_LOAD)]
    assert complaints == []


def ask(server: Server, task: str, **request: object) -> Any:
    """What the service answers to a client that is no page."""
    answer = requests.post(f"{server.url}/{task}", json=request, timeout=TIMEOUT_S)
    answer.raise_for_status()
    return answer.json()


def take_example(page: Page, name: str) -> str:
    """Click an example and wait for its answer; gives its text."""
    page.get_by_role("button", name=name, exact=True).click()
    text = page.locator("#text").input_value()
    page.wait_for_function(
        """text => [...document.querySelectorAll("#texts article:first-child .word")]
            .map((word) => word.textContent).join("") === text""",
        arg=re.sub(r"\s", "", text),
    )
    first = page.locator("[role=grid] [role=columnheader]").first
    expect(first).to_contain_text(text.split()[0])
    return text


def serious(page: Page) -> list[str]:
    """What axe-core finds on a page, and calls serious or critical."""
    violations = Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: {node['html']}"
        for violation in violations
        for node in violation["nodes"]
        if violation["impact"] in ("serious", "critical")
    ]
