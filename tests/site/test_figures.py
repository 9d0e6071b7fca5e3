"""Figures that a reader moves, in a browser: by keyboard, without scripts, as a file, on a phone;
and the step of k hops against the exact nets."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from browsing import SCREENS, SITE, Watch, new_context, overflow
from playwright.sync_api import Browser, Page

from depthlaw.advisor.base.quantities import size
from depthlaw.ledger.publish.site import model_figure
from depthlaw.theory.hops.hop_nets import causal_net
from depthlaw.theory.hops.pointers import find

# Where each stands.
PAGES = {"ring": "base-3.html", "khop": "papers/sanford2024.html"}


# Letters of panels as high as they are seen, and texts that leave their picture.
SMALL_OR_CUT = """() => [...document.querySelectorAll(".panels svg")].flatMap(svg => {
    const seen = svg.getBoundingClientRect(), scale = seen.width / svg.viewBox.baseVal.width;
    return [...svg.querySelectorAll("text, tspan")].filter(text => {
        const place = text.getBoundingClientRect();
        return !text.querySelector("tspan") && text.textContent.trim()
            && (parseFloat(getComputedStyle(text).fontSize) * scale < 9
                || place.left < seen.left - 1 || place.right > seen.right + 1);
    }).map(text => `${svg.getAttribute("aria-label")}: ${text.textContent}`);
})"""


def test_no_letter_of_a_panel_is_small_or_cut_on_a_narrow_phone(browser: Browser) -> None:
    phone = SCREENS["phone"] | {"viewport": {"width": 360, "height": 780}}
    context = new_context(browser, **phone)
    page = context.new_page()
    pictured = [
        path for path in sorted(SITE.rglob("*.html")) if 'class="panels"' in path.read_text("utf-8")
    ]
    assert len(pictured) >= 5
    wrong = []
    for path in pictured:
        page.goto(path.as_uri())
        wrong += [f"{path.name}: {text}" for text in page.evaluate(SMALL_OR_CUT)]
    assert wrong == []
    page.locator(".panels text:not(:has(tspan))").last.evaluate(
        "text => { text.style.fontSize = '5px' }"
    )
    assert len(page.evaluate(SMALL_OR_CUT)) == 1
    context.close()


def said(page: Page, name: str) -> str:
    return page.locator(f"#{name} .said").inner_text()


@pytest.mark.parametrize("name", PAGES)
def test_without_scripts_the_picture_stays(browser: Browser, site: str, name: str) -> None:
    context = new_context(browser, java_script_enabled=False, **SCREENS["phone"])
    page = context.new_page()
    page.goto(site + PAGES[name])
    picture = page.locator(f"#{name} .still svg")
    assert picture.is_visible()
    assert len(picture.get_attribute("aria-label") or "") > 60
    assert page.locator(f"#{name} input, #{name} select").count() == 0
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_as_a_file_and_on_a_narrow_phone_it_is_read_and_moved(browser: Browser, name: str) -> None:
    phone = SCREENS["phone"] | {"viewport": {"width": 360, "height": 780}}
    context, watch = new_context(browser, color_scheme="dark", **phone), Watch((SITE.as_uri(),))
    watch.put_on(context)
    page = context.new_page()
    page.goto((SITE / PAGES[name]).as_uri())
    assert overflow(page) == 0
    assert page.locator(f"#{name} .still").count() == 0
    # Every letter as high as it is seen.
    heights = page.locator(f"#{name} svg.figure").evaluate_all("""all => all.flatMap(svg =>
        [...svg.querySelectorAll("text")].map(text => parseFloat(getComputedStyle(text).fontSize)
            * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width))""")
    assert heights
    assert min(heights) >= 9
    unnamed = page.locator(f"#{name} :is(input, select)").evaluate_all(
        "all => all.filter(each => !each.labels.length).length"
    )
    assert unnamed == 0
    context.close()
    assert watch.complaints == []


def test_the_slider_of_the_ring_is_moved_by_keyboard(opened: Callable[..., Page]) -> None:
    page = opened(PAGES["ring"])
    slider = page.locator("#ring-layers")
    slider.focus()
    seen = {}
    page.keyboard.press("Home")
    for layers in (1, 2, 3, 4):
        reached = re.search(r"sees? (\d+) steps: (\d+) of 40", said(page, "ring"))
        assert reached
        seen[layers] = tuple(map(int, reached.groups()))
        assert page.locator("#ring circle.seen").count() == seen[layers][1] - 1
        page.keyboard.press("ArrowRight")
    assert seen == {1: (3, 7), 2: (9, 19), 3: (27, 40), 4: (81, 40)}
    assert "trained" not in said(page, "ring"), "no net of four layers was trained"


def test_a_seed_of_the_ring_is_one_curve(opened: Callable[..., Page]) -> None:
    page = opened(PAGES["ring"])
    assert "8 trained softmax nets" in said(page, "ring")
    page.locator("#ring-seed").select_option("13")
    assert page.locator("#ring polyline.chosen").count() == 1
    assert "seed 13 is right on 99 % at distance 9 and on" in said(page, "ring")
    page.locator("#ring-kind").select_option("linearised")
    assert page.locator("#ring polyline.chosen.linearised").count() == 1
    # Seed 13 has no net of three layers; then all are shown.
    page.locator("#ring-layers").fill("3")
    assert page.locator("#ring-seed").input_value() == "all"
    assert "The one trained linearised net" in said(page, "ring")


@pytest.mark.parametrize(("word", "hops"), [("ababa", 2), ("aab", 1), ("babbab", 3), ("abaaba", 4)])
def test_both_steps_answer_as_the_exact_nets_do(
    opened: Callable[..., Page], word: str, hops: int
) -> None:
    page = opened(PAGES["khop"])
    page.locator("#khop-hops").select_option(str(hops))
    page.locator("#khop-word").fill(word)
    place = find(word, hops)[-1]
    right = word[place - 1] if place else "none"
    drawings = page.locator("#khop svg.figure")
    for at, induction in enumerate(("printed", "repaired")):
        answer = str(causal_net(hops, 2, induction).answer(word))
        mark = "right ✓" if answer == right else "wrong ✗"
        shown = drawings.nth(at).locator("text.large").last.text_content()
        assert shown == f"answers {answer.replace('none', 'nothing')}: {mark}"


def test_layers_of_the_hops_are_stepped_through_and_other_words_refused(
    opened: Callable[..., Page],
) -> None:
    page = opened(PAGES["khop"])
    arrows = page.locator("#khop svg.figure").first.locator("path.arrow")
    assert arrows.count() == 3
    assert page.locator("#khop path.arrow.wrong").count() == 1
    page.locator("#khop-layer").focus()
    page.keyboard.press("ArrowLeft")
    assert arrows.count() == 2
    assert page.locator("#khop .wrong").count() == 0, "no answer is given before the last layer"
    page.locator("#khop-word").fill("abc")
    assert said(page, "khop").startswith("Type one to six letters")
    assert page.locator("#khop-word").get_attribute("aria-invalid") == "true"


@pytest.fixture
def figure(opened: Callable[..., Page]) -> Page:
    """The explorer, whose first figure is that of a reader's own model."""
    page = opened("explorer/index.html")
    page.locator("#model .said strong").wait_for()
    return page


@pytest.mark.parametrize(
    ("layers", "width", "tone"),
    [(40, 2560, "good"), (40, 2048, "good"), (10, 4096, "bad"), (120, 768, "open")],
)
def test_a_typed_model_is_placed_as_the_advisor_places_it(
    figure: Page, layers: int, width: int, tone: str
) -> None:
    figure.locator("#model-layers").fill(str(layers))
    figure.locator("#model-width").fill(str(width))
    number = model_figure.parameters(layers, width)
    held = dict(model_figure.answers())
    near = min(held, key=lambda one: max(one / number, number / one))
    place, loss = model_figure.says(held[near], layers)
    strong = figure.locator("#model .said strong")
    assert place in strong.inner_text()
    assert strong.get_attribute("class") == tone
    told = said(figure, "model")
    assert loss in told
    assert f"Computed for {size(near)} parameters in layers" in told
    assert (f"yours has {size(number)}" in told) == (size(number) != size(near))
    below = loss.startswith("-") and not re.search(r" to [+\d]", loss)
    assert ("yours is no worse" in told) == below
    figure.locator("#model-layers").fill("")
    assert "Type" in said(figure, "model")


def test_models_are_named_and_taken_by_keyboard_and_by_hand(figure: Page) -> None:
    first = figure.locator("#model .shape").first
    first.focus()
    name = figure.locator("#model .named").inner_text()
    assert name == first.get_attribute("aria-label")
    figure.keyboard.press("ArrowRight")
    assert figure.locator("#model .named").inner_text() not in ("", name)
    figure.keyboard.press("Enter")
    fields = [figure.locator(f"#model-{each}") for each in ("layers", "width")]
    layers, width = (int(field.input_value()) for field in fields)
    assert f"{layers} layers, width {width:,}" in figure.locator("#model .named").inner_text()
    before = said(figure, "model")
    figure.locator("#model-listed").select_option("GPT-2 XL")
    assert [field.input_value() for field in fields] == ["48", "1600"]
    assert said(figure, "model") != before
    area = figure.locator("#model svg").bounding_box()
    assert area
    figure.mouse.move(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)
    figure.mouse.down()
    figure.mouse.move(area["x"] + area["width"] * 0.7, area["y"] + area["height"] * 0.3)
    figure.mouse.up()
    assert int(fields[0].input_value()) > 48 < int(fields[1].input_value()) / 64
    assert figure.locator("#model-listed").input_value() == ""
