"""The card of the front page in a browser, and without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from browsing import SCREENS, SITE, new_context
from playwright.sync_api import Browser, Page

from depthlaw.ledger.publish.site import front_page

FRONT = "index.html"


def test_the_card_answers_a_typed_size(opened: Callable[..., Page]) -> None:
    page = opened(FRONT)
    field, headline = page.locator("#advice-size"), page.locator("#advice .headline")
    first = headline.inner_text()
    answer = front_page.advised("7B")
    for typed in ("7B", "7e9", "7,000,000,000", " 7b "):
        field.fill(typed)
        assert headline.inner_text() == front_page.headline(answer) != first
        assert page.locator("#advice .from code").inner_text() == "depthlaw depth 7B"
    # Between two sizes the page says which of them it answers for.
    field.fill("6.9B")
    assert page.locator("#advice .from code").inner_text() == "depthlaw depth 7B"
    for typed in ("seven", "-7B", "5T"):
        field.fill(typed)
        assert field.get_attribute("aria-invalid") == "true"
        assert " of width" not in headline.inner_text()
    page.locator("#advice button", has_text="3B").click()
    assert headline.inner_text() == first
    assert field.get_attribute("aria-invalid") == "false"


@pytest.mark.parametrize("screen", SCREENS)
def test_without_scripts_the_answer_stays(browser: Browser, screen: str) -> None:
    with new_context(browser, java_script_enabled=False, **SCREENS[screen]) as context:
        page = context.new_page()
        page.goto((SITE / FRONT).as_uri())
        answer = front_page.advised(front_page.FIRST)
        card = page.locator("#advice")
        assert re.search(rf"net of\s+{front_page.FIRST} parameters be\?", card.inner_text())
        assert f"{answer.layers} layers of width" in card.inner_text()
        assert not page.locator("#advice-size").is_visible()
