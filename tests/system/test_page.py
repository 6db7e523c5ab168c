"""The page at `/` in a browser, before a server with the models that are shipped."""

import json
import subprocess
import sys
from functools import partial

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.api.conftest import Server
from tests.system.browser import ask, opened, take_example

JANET = "Janet will back the bill"
VILLANUEVA = "Jane Villanueva of United Airlines"


def test_typing_is_answered(page: Page) -> None:
    page.locator("#text").fill("")
    expect(page.locator("#answer")).to_be_hidden()
    page.locator("#text").press_sequentially("Angela Merkel met Kim Novak in Berlin.", delay=20)
    expect(page.locator("#texts mark")).to_have_text(["Angela Merkel", "Kim Novak", "Berlin"])
    expect(page.locator("#texts .label")).to_contain_text(["PER", "PER", "LOC"])
    expect(page.locator("#status")).to_have_text("3 entities, 8 words, 1 sentence")


def test_a_stranger_sees_an_answer_at_once(page: Page) -> None:
    expect(page.locator("#text")).to_have_value(VILLANUEVA)
    expect(page.locator("#texts mark")).to_have_text(["Jane Villanueva", "United Airlines"])


@pytest.mark.parametrize("name", ["Two sentences", "Emoji", "Right to left"])
def test_entities_are_what_the_offsets_cover(page: Page, server: Server, name: str) -> None:
    text = take_example(page, name)
    spans = ask(server, "ner", text=text, model="en-ner-char-bilstm-crf")["spans"]
    assert spans
    expect(page.locator("#texts mark")).to_have_text([text[s["start"] : s["end"]] for s in spans])
    labels = page.locator("#texts .label").all_text_contents()
    assert [label[:3] for label in labels] == [span["label"] for span in spans]
    line = page.locator("#texts .running")
    # without the labels, the line is the text
    without = "line => { for (const l of line.querySelectorAll('.label')) l.remove(); }"
    line.evaluate(without)
    assert line.evaluate("line => line.textContent") == text


def test_a_line_runs_as_its_text(page: Page) -> None:
    take_example(page, "Right to left")
    assert page.locator("#texts .running").get_attribute("dir") == "rtl"
    mark, label = page.locator(".entity").last.locator("mark, .label").all()
    first, second = mark.bounding_box(), label.bounding_box()
    assert first is not None
    assert second is not None
    assert 0 < second["x"] - (first["x"] + first["width"]) < 20  # the label stands at its entity
    take_example(page, "Emoji")
    assert page.locator("#texts .running").get_attribute("dir") == "ltr"


def test_parts_of_speech_stand_under_words(page: Page, server: Server) -> None:
    text = take_example(page, "Time flies")
    tokens = ask(server, "tag", text=text, model="en-pos-crf", confidence=True)["tokens"]
    expect(page.locator("#texts .word")).to_have_text([token["text"] for token in tokens])
    for token, tag in zip(tokens, page.locator("#texts .tag").all(), strict=True):
        unsure = f"{token['confidence']:.0%}".replace("%", " %")
        expect(tag).to_have_text(token["tag"] + (unsure if token["confidence"] < 0.9 else ""))


def test_the_task_can_be_chosen(page: Page) -> None:
    page.get_by_text("Parts of speech", exact=True).click()
    expect(page.locator("#model")).to_have_value("en-pos-crf")
    expect(page.locator("#texts .tag")).to_have_text(["NNP", "NNP", "IN", "NNP", "NNPS"])
    page.locator("#model").select_option("en-upos-crf")
    expect(page.locator("#texts .tag").first).to_have_text("PROPN")
    assert page.url.endswith("/#task=tag&model=en-upos-crf")


@pytest.mark.parametrize(
    ("task", "example", "models"),
    [
        ("ner", "Two sentences", ("en-ner-char-bilstm-crf", "en-ner-crf")),
        ("tag", "Time flies", ("en-pos-crf", "en-pos-hmm")),
    ],
)
def test_two_models_side_by_side(
    page: Page, server: Server, task: str, example: str, models: tuple[str, str]
) -> None:
    text = take_example(page, example)
    page.locator("#other").select_option(models[1])
    expect(page.locator("#texts h2")).to_have_text(models)
    parts = []
    for model in models:
        answer = ask(server, task, text=text, model=model)
        keys = ("start", "end", "label" if task == "ner" else "tag")
        found = answer["spans" if task == "ner" else "tokens"]
        parts.append([tuple(part[key] for key in keys) for part in found])
    for article, own, other in zip(
        page.locator("#texts article").all(), parts, reversed(parts), strict=True
    ):
        expected = [text[start:end] for start, end, name in own if (start, end, name) not in other]
        marked = article.locator("[data-differs] :is(mark, .pair > .word)")
        expect(marked).to_have_text(expected)
    assert parts[0] != parts[1]
    # a word of the second leads to the trellis of the second
    page.locator("#texts article").last.locator("[data-token='0']").click()
    picked = page.get_by_label("Answer of")
    expect(picked.locator("option:checked")).to_have_text(models[1])
    expect(page.locator("[role=grid]")).to_be_visible()
    # and each tab has the answer of the one that is picked, which the keyboard reaches
    picked.focus()
    page.keyboard.press("ArrowUp")
    expect(picked.locator("option:checked")).to_have_text(models[0])
    expect(picked).to_be_focused()
    page.get_by_role("tab", name="JSON").click()
    for index, model in enumerate(models):
        picked.select_option(index=index)
        expect(page.locator("#panel code")).to_contain_text(f'"name": "{model}"')


def test_markup_in_a_text_is_text(page: Page) -> None:
    text = "<img src=x> <b>Jane Villanueva</b> &amp; '); alert(1) //"
    page.locator("#text").fill(text)
    expect(page.locator("#texts .running")).to_contain_text("<img src=x>")
    for tab in ("Table", "JSON", "curl", "Python"):
        page.get_by_role("tab", name=tab).click()
    assert page.locator("main img, main b").count() == 0


@pytest.mark.parametrize("example", [JANET, "Emoji", "Right to left", VILLANUEVA])
def test_the_snippets_fetch_what_is_shown(page: Page, server: Server, example: str) -> None:
    text = take_example(page, example)
    page.locator("#text").fill(f'{text} – it\'s "$HOME" \\n `x`')
    page.get_by_role("tab", name="curl").click()
    expect(page.locator("#panel code")).to_contain_text("`x`")
    page.get_by_role("tab", name="JSON").click()
    shown = page.locator("#panel code").evaluate("code => JSON.parse(code.textContent)")
    page.get_by_role("tab", name="curl").click()
    run = partial(subprocess.run, capture_output=True, text=True, check=True)
    curl = run(["sh", "-c", page.locator("#panel code").inner_text()]).stdout
    assert json.loads(curl) == shown
    page.get_by_role("tab", name="Python").click()
    python = run([sys.executable, "-c", page.locator("#panel code").inner_text()]).stdout
    words = [line.rpartition(" ") for line in python.splitlines()]
    if "spans" in shown:
        expected = [(f"{s['label']} {s['text']}", s["confidence"]) for s in shown["spans"]]
    else:
        expected = [(f"{t['text']} {t['tag']}", t["confidence"]) for t in shown["tokens"]]
    assert [(said, float(confidence)) for said, _, confidence in words] == expected


def test_the_table_is_copied(page: Page) -> None:
    page.get_by_role("tab", name="Table").click()
    page.get_by_role("button", name="Copy the table").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    rows = [line.split("\t") for line in copied.splitlines()]
    assert rows[0] == ["text", "label", "meaning", "start", "end", "confidence"]
    assert [row[:5] for row in rows[1:]] == [
        ["Jane Villanueva", "PER", "person", "0", "15"],
        ["United Airlines", "ORG", "organisation", "19", "34"],
    ]
    expect(page.locator("#panel tbody tr")).to_have_count(2)


def test_a_text_is_in_a_link_only_where_its_user_asks(
    page: Page, browser: Browser, server: Server
) -> None:
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.locator("#text").fill("Kim Novak & 📷")
    expect(page.locator("#texts mark").first).to_have_text("Kim Novak")
    assert not any("Novak" in url for url in (page.url, *asked))
    page.get_by_role("button", name="Copy a link with the text").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    with opened(browser, link) as other:
        expect(other.locator("#text")).to_have_value("Kim Novak & 📷")
        expect(other.locator("#texts mark").first).to_have_text("Kim Novak")
        assert "Novak" not in other.url


def test_a_model_stands_in_the_address(browser: Browser, server: Server) -> None:
    with opened(browser, f"{server.url}/#task=tag&model=en-pos-hmm&other=en-pos-crf") as page:
        expect(page.locator("#texts h2")).to_have_text(["en-pos-hmm", "en-pos-crf"])
