"""Serving a folder on the loopback interface, and watching what its pages do in a browser."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Request

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs" / "_site"
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
# In a container there is no sandbox to be had; no name of a host is looked up.
FLAGS = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
# Milliseconds after which what a page should do counts as not done: a busy machine is slow.
PATIENCE = 300_000
# Width and height in CSS pixels, and whether it is touched.
SCREENS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        """Nothing: a request that fails is reported by the test that made it."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 64

    def handle_error(self, *arguments: object) -> None:
        """Nothing: a browser that leaves a page hangs up on what it no longer needs."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address under which a folder is served while the block runs."""
    with _Server(("127.0.0.1", 0), partial(_Quiet, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """A browser context that has patience."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    return context


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than the screen, once its fonts are there."""
    width: int = page.evaluate("""async () => {
        await document.fonts.ready;
        return document.documentElement.scrollWidth - window.innerWidth;
    }""")
    return width


@dataclass
class Watch:
    """What a page did that it must not.

    Attributes:
        allowed: how the addresses begin that a page may load.
        complaints: one line for each error of a script or on the console, each request that failed,
            and each that leaves the site.
    """

    allowed: tuple[str, ...]
    complaints: list[str] = field(default_factory=list)

    def put_on(self, context: BrowserContext) -> None:
        """Watch every page of a browser context."""
        context.on("request", self._request)
        context.on("console", lambda m: self._say("console", m.text, m.type == "error"))
        context.on("weberror", lambda e: self._say("script", str(e.error)))
        context.on("response", lambda r: self._say(str(r.status), r.url, r.status >= 400))
        context.on(
            "requestfailed",
            lambda r: self._say(
                "failed", f"{r.url} {r.failure}", "ERR_ABORTED" not in (r.failure or "")
            ),
        )

    def _say(self, kind: str, what: str, wrong: bool = True) -> None:
        if wrong:
            self.complaints.append(f"{kind}: {what}")

    def _request(self, request: Request) -> None:
        inside = request.url.startswith((*self.allowed, "data:", "blob:"))
        self._say("leaves the site", request.url, not inside)
