"""The trellis on the page at `/`: it shows the numbers that the service answers."""

import math
import re

from playwright.sync_api import Browser, Page, expect

from tests.api.conftest import Server
from tests.system.browser import ask, opened, take_example

JANET = "Janet will back the bill"
VILLANUEVA = "Jane Villanueva of United Airlines"
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def written(probability: float) -> str:
    """As the page writes a small probability."""
    mantissa, exponent = f"{probability:.1e}".split("e-")
    return (
        f"{mantissa}×10⁻{str(int(exponent)).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
    )


def test_the_trellis_of_janet(page: Page, server: Server) -> None:
    take_example(page, JANET)
    request = {"text": JANET, "model": "en-pos-janet", "explain": True}
    explanation = ask(server, "tag", **request)["explanation"]
    [sentence], tags = explanation["sentences"], explanation["tags"]
    grid = page.locator("[role=grid]")
    for t, row in enumerate(sentence["cells"]):
        for j, cell in enumerate(row):
            expected = "·" if cell is None else written(math.exp(cell))
            expect(grid.locator(f"[data-t='{t}'][data-j='{j}'][role=gridcell]")).to_have_text(
                expected
            )
    best = [
        f"{tags[j]} at {word}" for j, word in zip(sentence["best_path"], JANET.split(), strict=True)
    ]
    labels = [cell.get_attribute("aria-label") or "" for cell in grid.locator(".best").all()]
    assert {label.partition(":")[0] for label in labels} == set(best)
    pointers = sum(i is not None for row in sentence["back_pointers"] for i in row)
    assert grid.locator("line").count() == pointers
    assert grid.locator("line.path").count() == 4
    # what the textbook says of this example
    for tag, word, value in (
        *(("NNP", "Janet", "8.9×10⁻⁶"), ("MD", "will", "3.0×10⁻⁸")),
        *(("VB", "back", "1.6×10⁻¹¹"), ("RB", "back", "5.3×10⁻¹¹")),
    ):
        assert grid.locator(f"[aria-label^='{tag} at {word}: {value}']").count() == 1
    ahead = grid.locator(".ahead")
    expect(ahead).to_have_attribute("aria-label", re.compile("^RB at back.*not taken$"))
    note = page.locator(".overruled")
    expect(note).to_contain_text("At “back” RB is ahead: 5.33×10⁻¹¹ against 1.61×10⁻¹¹ of VB.")
    expect(note).to_contain_text("VB comes to 1.61×10⁻¹¹ × 0.2231 = 3.59×10⁻¹²")
    expect(note).to_contain_text("RB only comes to 5.33×10⁻¹¹ × 0.0479 = 2.55×10⁻¹²")


def test_a_cell_tells_its_arithmetic(page: Page) -> None:
    take_example(page, JANET)
    reasons = page.locator(".reasons")
    page.locator("[role=gridcell][aria-label^='DT at the']").hover()
    expect(reasons.locator("h3")).to_contain_text("DT at “the”")
    expect(reasons.locator(".sum td:last-child")).to_have_text(
        ["1.61×10⁻¹¹", "0.2231", "0.5061", "1.82×10⁻¹²"]
    )
    expect(reasons.locator(".note")).to_contain_text(
        "The back-pointer is VB, 1.82×10⁻¹². Next best: RB 1.29×10⁻¹²"
    )
    page.locator("#status").hover()  # away from it: the chosen cell again
    expect(reasons.locator("h3")).to_contain_text("VB at “back”")
    page.locator("[role=gridcell][aria-label^='JJ at the']").click()
    expect(reasons).to_contain_text("To this model, “the” is never JJ.")


def test_a_network_with_more_states_tells_its_arithmetic_too(page: Page, server: Server) -> None:
    request = {"text": VILLANUEVA, "model": "en-ner-char-bilstm-crf", "explain": True}
    [sentence] = ask(server, "ner", **request)["explanation"]["sentences"]
    assert ask(server, "ner", **request)["explanation"]["transitions"] is None
    rows = zip(sentence["best_path"], sentence["cells"], sentence["emissions"], strict=True)
    for t, (j, cells, emissions) in enumerate(rows):
        page.locator("#texts .word").nth(t).click()
        terms = [cells[j] - emissions[j], emissions[j], cells[j]]
        shown = [f"{term:.2f}".replace("-", "−") for term in terms]
        expect(page.locator(".reasons .sum td:last-child")).to_have_text(shown)
    expect(page.locator(".reasons .sum th").first).to_have_text(
        "best path by B-ORG at “United” to I-ORG"
    )
    expect(page.locator(".reasons .note")).to_contain_text("several states for a tag")


def test_a_chosen_column_is_in_sight(browser: Browser, server: Server) -> None:
    """On a phone, where a trellis is wider than the window; the tags stand over its left."""
    with opened(browser, server.url, viewport={"width": 360, "height": 740}) as page:
        take_example(page, JANET)
        for t in (2, 4, 3, 0):  # the first is chosen by the page itself
            if t != 2:
                page.locator("#texts .word").nth(t).click()
            cell = page.locator(f"[role=gridcell][data-t='{t}'][aria-selected=true] rect")
            expect(cell).to_be_visible()
            page.wait_for_timeout(100)  # a frame, in which it scrolls
            tags, lattice = page.locator(".lattice .tags, .lattice").all()[::-1]
            edges = [place.bounding_box() for place in (tags, cell, lattice)]
            left, its, right = (edge or {} for edge in edges)
            assert its["x"] >= left["x"] + left["width"]
            assert its["x"] + its["width"] <= right["x"] + right["width"]


def test_the_keyboard_is_enough(page: Page) -> None:
    page.locator("#text").focus()
    names = []
    for _ in range(12):
        page.keyboard.press("Tab")
        names.append(page.evaluate("document.activeElement.textContent"))
    assert [name for name in names if name in (JANET, "Trellis")] == [JANET, "Trellis"]
    page.get_by_role("button", name=JANET).focus()
    page.keyboard.press("Enter")
    chosen = page.locator("[role=gridcell][aria-selected=true]")
    expect(chosen).to_have_attribute("aria-label", re.compile("^VB at back"))
    page.locator("#tab-trellis").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[role=tabpanel]")).to_have_attribute("aria-labelledby", "tab-table")
    page.keyboard.press("ArrowLeft")
    page.locator("[role=gridcell][tabindex='0']").focus()
    for key, label in (
        *(("ArrowRight", "VB at the"), ("ArrowRight", "VB at bill"), ("ArrowRight", "VB at bill")),
        *(("ArrowLeft", "VB at the"), ("ArrowDown", r"(?!VB)\S+ at the")),
    ):
        page.keyboard.press(key)
        expect(chosen).to_be_focused()
        expect(chosen).to_have_attribute("aria-label", re.compile(f"^{label}"))


def test_features_of_a_word(page: Page, server: Server) -> None:
    page.locator("#model").select_option("en-ner-crf")
    request = {"text": VILLANUEVA, "model": "en-ner-crf", "explain": True}
    token = ask(server, "ner", **request)["explanation"]["tokens"][1]
    expect(page.locator(".features h3")).to_be_visible()
    page.locator("#texts [data-token='1']").click()
    expect(page.locator(".features h3")).to_contain_text("Features at “Villanueva”")
    for table, candidate in zip(
        page.locator(".features table").all(), (token["best"], token["runner_up"]), strict=True
    ):
        expect(table.locator("caption strong")).to_have_text(candidate["tag"])
        weights = [f"{f['weight']:.2f}".replace("-", "−") for f in candidate["features"]]
        expect(table.locator("td:last-child")).to_have_text(weights[:10])
    expect(page.locator(".features th").first).to_contain_text("start boundary")
    more = page.get_by_role("button", name=re.compile(f"more for {token['best']['tag']}$"))
    more.click()
    expect(page.locator(".features table").first.locator("tr")).to_have_count(
        len(token["best"]["features"])
    )
    expect(page.locator(".features table").first).to_be_focused()  # the button is gone


def test_unlikely_tags_are_folded(page: Page, server: Server) -> None:
    take_example(page, "Time flies")
    explanation = ask(server, "tag", text="flies", model="en-pos-crf", explain=True)["explanation"]
    tags = len(explanation["tags"])
    rows = page.locator("[role=row][aria-label]")
    shown = rows.count()
    assert shown < tags
    page.get_by_role("button", name=f"Show the {tags - shown} unlikely tags").click()
    expect(rows).to_have_count(tags)
    page.get_by_role("button", name="Fold the unlikely tags").click()
    expect(rows).to_have_count(shown)


def test_sentences_have_a_trellis_each(page: Page) -> None:
    take_example(page, "Two sentences")
    page.locator("#sentence").select_option(index=1)
    expect(page.locator("[role=columnheader]").first).to_contain_text("There")
    page.locator("#texts [data-token='1']").click()
    expect(page.locator(".reasons h3")).to_contain_text("I-PER at “Curie”")
