"""The card of the front page and the figure of a reader's own model, in a browser, by hand, by
keyboard and without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from browsing import SCREENS, SITE, new_context
from playwright.sync_api import Browser, Page

from depthlaw.advisor.base.quantities import size
from depthlaw.ledger.publish.site import front_page, model_figure

FRONT, EXPLORER = "index.html", "explorer/index.html"


def test_the_card_answers_a_typed_size(opened: Callable[..., Page]) -> None:
    page = opened(FRONT)
    field, headline = page.locator("#advice-size"), page.locator("#advice .headline")
    first = headline.inner_text()
    answer = front_page.advised("7B")
    for typed in ("7B", "7e9", "7,000,000,000", " 7b "):
        field.fill(typed)
        assert headline.inner_text() == f"{answer.layers} layers of width {answer.width:,}" != first
        assert page.locator("#advice .from code").inner_text() == "depthlaw depth 7B"
    # Between two sizes the page says which of them it answers for.
    field.fill("6.9B")
    assert page.locator("#advice .from code").inner_text() == "depthlaw depth 7B"
    for typed in ("seven", "-7B", "5T"):
        field.fill(typed)
        assert field.get_attribute("aria-invalid") == "true"
        assert "layers of width" not in headline.inner_text()
    page.locator("#advice button", has_text="3B").click()
    assert headline.inner_text() == first
    assert field.get_attribute("aria-invalid") == "false"


@pytest.fixture
def figure(opened: Callable[..., Page]) -> Page:
    """The explorer, whose first figure is that of a reader's own model."""
    page = opened(EXPLORER)
    page.locator("#model .says strong").wait_for()
    return page


def says(page: Page) -> str:
    return page.locator("#model .says").inner_text()


@pytest.mark.parametrize(
    ("layers", "width", "tone"), [(40, 2560, "good"), (10, 4096, "bad"), (120, 768, "open")]
)
def test_a_typed_model_is_placed_as_the_advisor_places_it(
    figure: Page, layers: int, width: int, tone: str
) -> None:
    figure.locator("#model [name=layers]").fill(str(layers))
    figure.locator("#model [name=width]").fill(str(width))
    number = model_figure.parameters(layers, width)
    held = dict(model_figure._answers())
    near = min(held, key=lambda one: max(one / number, number / one))
    place, loss = model_figure.says(held[near], layers)
    strong = figure.locator("#model .says strong")
    assert place in strong.inner_text()
    assert strong.get_attribute("class") == tone
    told = says(figure)
    assert loss in told
    assert f"Computed for {size(near)} parameters in layers" in told
    figure.locator("#model [name=layers]").fill("")
    assert "Type" in says(figure)


def test_models_are_named_and_taken_by_keyboard_and_by_hand(figure: Page) -> None:
    first = figure.locator("#model .model").first
    first.focus()
    name = figure.locator("#model .named").inner_text()
    assert name == first.get_attribute("aria-label")
    figure.keyboard.press("ArrowRight")
    assert figure.locator("#model .named").inner_text() not in ("", name)
    figure.keyboard.press("Enter")
    focused = "document.activeElement.dataset"
    fields = [figure.locator(f"#model [name={each}]") for each in ("layers", "width")]
    assert [field.input_value() for field in fields] == [
        figure.evaluate(f"{focused}.{each}") for each in ("layers", "width")
    ]
    before = says(figure)
    figure.locator("#model [name=listed]").select_option("GPT-2 XL")
    assert [field.input_value() for field in fields] == ["48", "1600"]
    assert says(figure) != before
    area = figure.locator("#model svg").bounding_box()
    assert area
    figure.mouse.move(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)
    figure.mouse.down()
    figure.mouse.move(area["x"] + area["width"] * 0.7, area["y"] + area["height"] * 0.3)
    figure.mouse.up()
    assert int(fields[0].input_value()) > 48 < int(fields[1].input_value()) / 64
    assert figure.locator("#model [name=listed]").input_value() == ""


@pytest.mark.parametrize("screen", SCREENS)
def test_without_scripts_the_answer_and_the_picture_stay(browser: Browser, screen: str) -> None:
    with new_context(browser, java_script_enabled=False, **SCREENS[screen]) as context:
        page = context.new_page()
        page.goto((SITE / FRONT).as_uri())
        answer = front_page.advised(front_page.FIRST)
        card = page.locator("#advice")
        assert re.search(rf"net of\s+{front_page.FIRST} parameters be\?", card.inner_text())
        assert f"{answer.layers} layers of width" in card.inner_text()
        assert not page.locator("#advice-size").is_visible()
        page.goto((SITE / EXPLORER).as_uri())
        assert page.locator("#model svg").is_visible()
        assert not page.locator("#model form").is_visible()
