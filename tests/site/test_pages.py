"""Pages in a browser: no script fails, no request leaves the site, no serious barrier."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import PATIENCE, SCREENS, SITE, Watch, new_context, overflow, served
from playwright.sync_api import Browser, Page

# One of each kind of page.
MAIN = [
    f"{name}.html"
    for name in (
        *("index", "tutorial", "depth", "base-3", "open/index", "depth-evidence", "api"),
        *("claims/index", "claims/hops/index", "claims/hops/doubling"),
        *("claims/separation_rank/corollary_2", "what-training-finds", "explorer/index"),
    )
]
# All of these on both screens in both schemes, the others once on each screen.
OFTEN = ("index.html", "claims/hops/doubling.html", "explorer/index.html")
SEEN_AS = [
    (name, screen, scheme)
    for name in MAIN
    for screen in SCREENS
    for scheme in ("light", "dark")
    if name in OFTEN or (screen == "phone") == (scheme == "dark")
]
# Processes share the pages.
PARTS = 8


def barriers(page: Page) -> list[str]:
    """What axe-core finds serious or critical, each with the first element it is about."""
    # What passes is counted, not written out with all its elements: of a long page megabytes.
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{it['id']} ({it['impact']}, {len(it['nodes'])} x): {it['help']}: "
        f"{it['nodes'][0]['html'][:200]}"
        for it in found
        if it["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("part", range(PARTS))
def test_every_page_loads_without_complaint_and_fits_a_phone(
    browser: Browser, site: str, part: int
) -> None:
    # In the outline of tall brackets KaTeX repeats a letter, which browsers note and draw all the
    # same.
    drawn = re.compile(r"console: Error: <path> attribute d: Expected number, .*\\nMM319 602 V0")
    complaints = {}
    context = new_context(browser, color_scheme="dark", **SCREENS["phone"])
    watch = Watch((site,))
    watch.put_on(context)
    page = context.new_page()
    for file in sorted(SITE.rglob("*.html"))[part::PARTS]:
        name = file.relative_to(SITE).as_posix()
        page.goto(site + name)
        # Formulas that KaTeX did not understand stand in the page in red.
        unread = page.locator(".katex-error").evaluate_all("all => all.map(one => one.title)")
        wrong = [line for line in watch.complaints if not drawn.match(line)] + unread
        # What no table was made of.
        if "| verdict |" in page.locator("body").inner_text():
            wrong.append("a table that another block swallowed")
        if (beyond := overflow(page)) > 0:
            wrong.append(f"{beyond} pixels too wide")
        if wrong:
            complaints[name] = wrong
        watch.complaints.clear()
    context.close()
    assert complaints == {}


@pytest.mark.parametrize(("name", "screen", "scheme"), SEEN_AS)
def test_main_pages_have_no_serious_barrier_and_fit_the_screen(
    opened: Callable[..., Page], name: str, screen: str, scheme: str
) -> None:
    page = opened(name, screen, scheme)
    assert barriers(page) == []
    assert overflow(page) <= 0


@pytest.mark.parametrize("name", ["index.html", "depth.html", "what-training-finds.html"])
def test_pages_fit_windows_of_every_width(opened: Callable[..., Page], name: str) -> None:
    page = opened(name, "desktop", "light")
    for width in range(360, 1600, 40):
        page.set_viewport_size({"width": width, "height": 900})
        assert overflow(page) <= 0, width


def test_the_appendix_has_no_serious_barrier_and_needs_nothing_beside_it(
    opened: Callable[..., Page], appendix: Path, tmp_path: Path
) -> None:
    """From the file alone, as somebody gets it by mail."""
    alone = tmp_path / "appendix.html"
    alone.write_bytes((appendix / "appendix.html").read_bytes())
    for screen, scheme in (("desktop", "light"), ("phone", "dark")):
        page = opened(alone.as_uri(), screen, scheme)
        assert page.locator(".katex").count() > 10
        assert page.locator(".katex-error").count() == 0
        assert barriers(page) == []
        assert overflow(page) <= 0


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("<script>console.error('no')</script>", "console: no"),
        ("<script>throw new Error('no')</script>", "script: no"),
        ("<img src='gone.png' alt=''>", "404: "),
        ("<script>fetch('http://127.0.0.2:9/')</script>", "leaves the site: http://127.0.0.2:9/"),
        ("<p>good</p>", None),
    ],
)
def test_what_a_page_does_wrong_is_seen(
    browser: Browser, tmp_path: Path, body: str, complaint: str | None
) -> None:
    (tmp_path / "favicon.ico").touch()
    (tmp_path / "index.html").write_text(f"<!doctype html><html lang='en'>{body}</html>")
    with served(tmp_path) as address, new_context(browser) as context:
        watch = Watch((address,))
        watch.put_on(context)
        page = context.new_page()
        page.goto(address)
        for _ in range(PATIENCE // 20):
            # The browser tells of it a moment later.
            if complaint is None or any(it.startswith(complaint) for it in watch.complaints):
                break
            page.wait_for_timeout(20)
        found = list(watch.complaints)
    starts = [line for line in found if line.startswith(complaint or "")]
    assert bool(starts) is (complaint is not None), found


def test_a_barrier_and_a_page_too_wide_are_seen(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        "<!doctype html><html><title>t</title><main><h1>h</h1><img src='data:,'>"
        "<p style='color:#ddd;background:#fff;width:3000px'>faint</p></main></html>"
    )
    with served(tmp_path) as address, new_context(browser) as context:
        page = context.new_page()
        page.goto(address)
        found = " ".join(barriers(page))
        assert overflow(page) > 1000
    assert {"image-alt", "color-contrast", "html-has-lang"} <= set(found.replace("(", "").split())
