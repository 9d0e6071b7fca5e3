"""The explorer in a browser: each control, by keyboard and by hand; what stands behind each
curve."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from browsing import SCREENS, SITE, Watch, new_context, overflow
from playwright.sync_api import Browser, Page

PAGE = "explorer/index.html"
# What each control moves: plots, tables and commands.
MOVES = {
    "rules-budget": ("rules-plot", "rules-command", "thresholds-plot"),
    "thresholds-width": ("thresholds-plot", "thresholds-legend"),
    "thresholds-depth": ("thresholds-plot",),
    "thresholds-budget": ("thresholds-plot", "rules-command"),
    "ranks-width": ("ranks-plot", "ranks-legend"),
    "ranks-heads": ("ranks-plot", "ranks-legend", "collapse-plot"),
    "ranks-depth": ("ranks-plot", "ranks-legend", "collapse-plot", "tasks-plot"),
    "collapse-heads": ("collapse-plot", "collapse-legend", "ranks-plot"),
    "collapse-start": ("collapse-plot", "collapse-legend"),
    "collapse-beta": ("collapse-plot", "collapse-legend"),
    "collapse-depth": ("collapse-plot", "collapse-legend"),
    "tasks-task": ("tasks-plot", "tasks-legend", "tasks-command"),
    "tasks-size": ("tasks-plot", "tasks-legend", "tasks-command"),
    "tasks-depth": ("tasks-plot", "ranks-plot"),
}
PANELS = ("rules", "thresholds", "ranks", "collapse", "tasks")


@pytest.fixture
def explorer(opened: Callable[..., Page]) -> Page:
    """The explorer on a desktop."""
    return ready(opened(PAGE))


def ready(page: Page) -> Page:
    """The page, once every plot is drawn."""
    for name in PANELS:
        page.locator(f"#{name}-plot svg").wait_for()
    return page


def data() -> dict[str, Any]:
    """What the page reads."""
    text = (SITE / "explorer" / "data.js").read_text(encoding="ascii")
    found: dict[str, Any] = json.loads(text[text.index("{") :].rstrip().rstrip(";"))
    return found


def choose(page: Page, control: str, place: int) -> None:
    """Set a control as a hand does, without a pointer's inaccuracy."""
    page.eval_on_selector(
        f"#{control}",
        """(input, place) => {
        input.value = place;
        input.dispatchEvent(new Event("input", { bubbles: true }));
    }""",
        place,
    )


def test_every_control_is_known_to_these_tests(explorer: Page) -> None:
    found = explorer.eval_on_selector_all("[data-control]", "all => all.map(each => each.id)")
    assert sorted(found) == sorted(MOVES)


@pytest.mark.parametrize("control", MOVES)
def test_each_control_moves_what_it_is_about_by_keyboard(explorer: Page, control: str) -> None:
    if control in ("ranks-heads", "collapse-heads"):
        choose(explorer, "ranks-width", 14)

    def seen() -> dict[str, str]:
        return {part: explorer.locator(f"#{part}").inner_html() for part in MOVES[control]}

    before, first = seen(), explorer.locator(f"#{control}").input_value()
    box = explorer.locator(f"#{control}")
    box.focus()
    kind = box.evaluate("each => each.type")
    explorer.keyboard.press("ArrowDown" if kind == "select-one" else "ArrowRight")
    after = seen()
    assert [part for part in MOVES[control] if before[part] == after[part]] == []
    if kind == "range":
        assert box.input_value() != first
        says = box.get_attribute("aria-valuetext")
        assert says
        assert says == box.locator("xpath=../output").inner_text()


@pytest.mark.parametrize("screen", SCREENS)
def test_a_finger_or_a_mouse_moves_each_kind_of_control(
    opened: Callable[..., Page], screen: str
) -> None:
    page = ready(opened(PAGE, screen))
    slider, menu = page.locator("#rules-budget"), page.locator("#tasks-task")
    commands = [page.locator(f"#{part}-command") for part in ("rules", "tasks")]

    def press(place: Any, part: float) -> None:
        place.scroll_into_view_if_needed()
        area = place.bounding_box()
        at = area["x"] + part * area["width"], area["y"] + area["height"] / 2
        (page.touchscreen.tap if screen == "phone" else page.mouse.click)(*at)

    before = [command.inner_text() for command in commands]
    press(slider, 0.15)
    # The list itself is drawn by the system, out of a test's reach: what it sends is chosen here.
    press(menu, 0.5)
    # A tap is a click a moment later.
    page.wait_for_function("document.activeElement.id === 'tasks-task'")
    page.keyboard.press("Escape")
    menu.select_option(index=menu.locator("option").count() - 1)
    after = [command.inner_text() for command in commands]
    assert all(old != new for old, new in zip(before, after, strict=True))
    summary = page.locator("#thresholds-numbers summary")
    press(summary, 0.05)
    page.locator("#thresholds-numbers tbody tr").first.wait_for()


def test_every_claim_behind_a_curve_has_its_page_and_its_verdict(explorer: Page) -> None:
    links = explorer.eval_on_selector_all(
        ".legend a", "all => all.map(each => each.getAttribute('href'))"
    )
    assert len(links) > 20
    claims = data()["claims"].values()
    assert set(links) <= {f"../claims/{claim['key']}.html" for claim in claims}
    for claim in claims:
        # A page that is missing raises.
        page = SITE / "claims" / f"{claim['key']}.html"
        # The card on top of the page begins with it.
        card = page.read_text(encoding="utf-8").partition('<div class="card')[2]
        found = re.search(r"<strong>(.+?)</strong>", card)
        assert found, claim
        # Of one suite a verdict may differ from that of the page.
        assert claim["suite"] or re.sub("<[^>]*>", "", found[1]) == claim["verdict"], claim
    shown = explorer.eval_on_selector_all(
        ".legend .claim",
        """all => all.map(each => [
        each.querySelector("a").getAttribute("href"),
        each.querySelector(".verdict").textContent])""",
    )
    told = {(f"../claims/{claim['key']}.html", claim["verdict"]) for claim in claims}
    # A verdict stands only beside a curve that it is about.
    assert len(shown) > 10
    assert {tuple(each) for each in shown} <= told


@pytest.mark.parametrize("name", PANELS)
def test_every_plot_has_a_name_a_legend_and_its_numbers(explorer: Page, name: str) -> None:
    svg = explorer.locator(f"#{name}-plot svg")
    assert svg.get_attribute("role") == "img"
    says = explorer.locator(f"#{name}-says")
    assert svg.get_attribute("aria-label") == says.inner_text() != ""
    rows = explorer.locator(f"#{name}-legend tbody tr")
    curves = data()[name]["curves"]
    assert rows.count() == len(curves["connectivity"] if name == "tasks" else curves)
    explorer.locator(f"#{name}-numbers summary").click()
    numbers = explorer.locator(f"#{name}-numbers tbody tr")
    numbers.first.wait_for()
    assert numbers.count() > 20
    assert "undefined" not in explorer.locator("main").inner_text()
    assert "NaN" not in explorer.locator(f"#{name}-plot").inner_html()


def test_every_frame_is_drawn_without_a_gap(explorer: Page) -> None:
    """No setting of the sliders of ranks and collapse is left out."""
    bad = explorer.evaluate("""() => {
        const found = [];
        for (const [control, others] of [["ranks-width", "ranks-heads"],
                                         ["collapse-start", "collapse-heads"]]) {
            const set = (id, at) => {
                const it = document.getElementById(id);
                it.value = at;
                it.dispatchEvent(new Event("input", { bubbles: true }));
            };
            const most = (id) => Number(document.getElementById(id).max);
            for (let a = 0; a <= most(control); a += 3) {
                for (let b = 0; b <= most(others); b += 2) {
                    set(control, a); set(others, b);
                    const panel = control.split("-")[0];
                    const svg = document.querySelector(`#${panel}-plot svg`).outerHTML;
                    if (svg.includes("NaN") || !svg.includes("<path")) found.push([control, a, b]);
                }
            }
        }
        return found;
    }""")
    assert bad == []


def test_the_address_holds_the_settings(opened: Callable[..., Page], explorer: Page) -> None:
    choose(explorer, "rules-budget", 3)
    choose(explorer, "tasks-task", 2)
    choose(explorer, "tasks-size", 5)
    kept = [explorer.locator(f"#{part}-command").inner_text() for part in ("rules", "tasks")]
    again = ready(opened(f"{PAGE}#{explorer.url.partition('#')[2]}"))
    assert [again.locator(f"#{part}-command").inner_text() for part in ("rules", "tasks")] == kept
    odd = ready(opened(f"{PAGE}#budget=nothing&width=-1&depth=0&size=9e9"))
    assert odd.locator("#rules-command").inner_text() == "depthlaw depth 3B"


def test_a_point_is_named_under_the_pointer(explorer: Page) -> None:
    plot = explorer.locator("#thresholds-plot svg")
    plot.scroll_into_view_if_needed()
    dot = plot.locator("circle").first.bounding_box()
    assert dot is not None
    explorer.mouse.move(dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2)
    plot.locator("[text-anchor] tspan", has_text="published models").first.wait_for()


def test_the_theme_of_the_site_is_followed(browser: Browser, site: str) -> None:
    with new_context(browser, color_scheme="light") as context:
        page = context.new_page()
        page.goto(site + PAGE)
        light = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.evaluate("localStorage.setItem('theme', 'dark')")
        page.reload()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light


@pytest.mark.parametrize("screen", SCREENS)
def test_it_works_from_a_folder_and_fits_the_screen(browser: Browser, screen: str) -> None:
    with new_context(browser, **SCREENS[screen]) as context:
        watch = Watch((SITE.as_uri(),))
        watch.put_on(context)
        page = context.new_page()
        page.goto((SITE / PAGE).as_uri())
        ready(page)
        choose(page, "rules-budget", 0)
        assert page.locator("#rules-command").inner_text() == "depthlaw depth 10M"
        assert overflow(page) <= 0
        # A finger needs 24 pixels.
        assert (
            page.eval_on_selector_all(
                "[data-control], summary",
                "all => Math.min(...all.map(each => each.getBoundingClientRect().height))",
            )
            >= 24
        )
        assert watch.complaints == []
