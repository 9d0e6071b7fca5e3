"""The built site behind a server on the loopback interface, and this machine's Chromium, which
reaches nothing else. `make site-test` builds the site before."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parent))  # modules beside the tests

from browsing import CHROMIUM, FLAGS, PATIENCE, SCREENS, SITE, Watch, new_context, served


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """The address of the built site."""
    assert (SITE / "index.html").is_file(), "the site is not built; say `make site-test`"
    with served(SITE) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium, started once."""
    assert CHROMIUM, "there is no Chromium here; `make site-test` would have said so"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=PATIENCE)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Browser, site: str) -> Iterator[Callable[..., Page]]:
    """(path, screen, scheme) -> that page of the site, loaded. What pages complain of fails the
    test when it ends."""
    contexts, watches = [], []

    def opening(path: str, screen: str = "desktop", scheme: str = "light") -> Page:
        context = new_context(
            browser, color_scheme=scheme, reduced_motion="reduce", **SCREENS[screen]
        )
        watch = Watch((path if "://" in path else site,))
        watch.put_on(context)
        contexts.append(context)
        watches.append(watch)
        page = context.new_page()
        response = page.goto(path if "://" in path else site + path)
        assert response is None or response.ok, f"{path}: {response.status}"
        return page

    yield opening
    for context in contexts:
        context.close()
    assert [line for watch in watches for line in watch.complaints] == []


@pytest.fixture(scope="session")
def appendix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `depthlaw appendix` writes by default."""
    folder = tmp_path_factory.mktemp("appendix") / "out"
    subprocess.run(
        [sys.executable, "-m", "depthlaw", "appendix", str(folder)], check=True, capture_output=True
    )
    return folder
