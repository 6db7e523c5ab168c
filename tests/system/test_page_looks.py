"""The page at `/` for every eye and window: light and dark, on a phone, and by axe-core."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.api.conftest import Server
from tests.system.browser import opened, serious, take_example

JANET = "Janet will back the bill"
VILLANUEVA = "Jane Villanueva of United Airlines"
TOO_LONG = "a" * 501  # see the fixture `server`
PHONE = {"width": 360, "height": 740}


def background(page: Page) -> int:
    """How light the page is, from 0 to 255."""
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return max(int(part) for part in re.findall(r"\d+", colour)[:3])


def test_dark_and_light(browser: Browser, server: Server) -> None:
    for scheme, is_dark in (("light", False), ("dark", True)):
        with opened(browser, server.url, color_scheme=scheme) as page:
            switch = page.get_by_role("button", name="Dark")
            assert (background(page) < 64) is is_dark
            expect(switch).to_have_attribute("aria-pressed", str(is_dark).lower())
            switch.click()
            assert (background(page) < 64) is not is_dark
            page.reload()
            assert (background(page) < 64) is not is_dark
            expect(switch).to_have_attribute("aria-pressed", str(not is_dark).lower())


KEEPS_NOTHING = """for (const name of ["localStorage", "sessionStorage"]) {
    Object.defineProperty(window, name, { get() { throw new DOMException("", "SecurityError"); } });
}"""


def test_a_browser_that_keeps_nothing_shows_it_too(browser: Browser, server: Server) -> None:
    with opened(browser, server.url, color_scheme="light") as page:
        page.add_init_script(KEEPS_NOTHING)
        page.reload()
        take_example(page, JANET)
        page.get_by_role("button", name="Dark").click()
        assert background(page) < 64


def too_wide(page: Page) -> int:
    """By how many pixels the page is wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def test_it_fits_a_phone(browser: Browser, server: Server) -> None:
    with opened(browser, server.url, viewport=PHONE, has_touch=True, is_mobile=True) as page:
        for example in (JANET, "Two sentences", "Right to left", "Time flies"):
            take_example(page, example)
            for tab in ("Table", "JSON", "curl", "Python", "Trellis"):
                page.get_by_role("tab", name=tab).click()
                assert too_wide(page) == 0, (example, tab)
        page.locator("#other").select_option("en-pos-hmm")
        expect(page.locator("#texts h2")).to_have_count(2)
        page.locator("#text").fill("Donaudampfschifffahrtsgesellschaft" * 5)
        expect(page.locator("#texts .word").first).to_contain_text("Donaudampf")
        assert too_wide(page) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [{"width": 1280, "height": 860}, PHONE])
def test_axe_finds_nothing_serious(
    browser: Browser, server: Server, scheme: str, size: dict[str, int]
) -> None:
    options = {"color_scheme": scheme, "viewport": size}
    with opened(browser, server.url, expects_errors=True, **options) as page:
        for example in (VILLANUEVA, "Time flies", JANET):
            take_example(page, example)
            assert serious(page) == [], example
        for tab in ("Table", "JSON", "curl", "Python"):
            page.get_by_role("tab", name=tab).click()
            assert serious(page) == [], tab
        page.locator("#other").select_option("en-pos-hmm")
        expect(page.locator("#texts h2")).to_have_count(2)
        page.get_by_role("tab", name="Trellis").click()
        expect(page.locator("[role=grid]")).to_be_visible()
        assert serious(page) == [], "two models"
        page.locator("#text").fill(TOO_LONG)
        expect(page.get_by_role("alert")).to_be_visible()
        assert serious(page) == [], "a problem"
