"""Stopping in good order: signals and the time limit end a command with one line."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

TIME_IS_UP = "the time limit of --minutes is reached"


class Stopped(KeyboardInterrupt):
    """A signal or the time limit stopped the driver; the message says which. No `except Exception`
    on the way may swallow it."""


# Of this thread: other threads are never interrupted.
_whole: ContextVar[Callable[[], AbstractContextManager[None]]] = ContextVar(
    "whole", default=nullcontext
)


def whole() -> AbstractContextManager[None]:
    """What stands inside is done whole before `Stopped` is raised; a second signal does not
    wait."""
    return _whole.get()()


@contextmanager
def stoppable(seconds: float | None) -> Iterator[None]:
    """Turn SIGINT, SIGTERM, SIGHUP and the end of the time into `Stopped`; engines then close.
    SIGHUP stays ignored where it is, as under nohup."""
    reasons = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
    hangup = getattr(signal, "SIGHUP", None)  # there is none on Windows
    if hangup and signal.getsignal(hangup) != signal.SIG_IGN:
        reasons[hangup] = "the terminal is closed"
    if seconds is not None:
        reasons[signal.SIGALRM] = TIME_IS_UP
    waits, late = 0, ""

    def stop(number: int, frame: object) -> None:
        nonlocal late
        again, late = bool(late), reasons[signal.Signals(number)]
        if again or not waits:
            raise Stopped(late)

    @contextmanager
    def unbroken() -> Iterator[None]:
        nonlocal waits
        waits += 1
        try:
            yield
        finally:
            waits -= 1
        if late and not waits:
            raise Stopped(late)

    try:
        before = {number: signal.signal(number, stop) for number in reasons}
    except ValueError:
        # Not in the main thread: whoever owns the process handles its signals.
        yield
        return
    token = _whole.set(unbroken)
    try:
        with _alarm(seconds):
            yield
    finally:
        _whole.reset(token)
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    """SIGALRM after so many seconds, and then what others had set."""
    if seconds is None:
        yield
        return
    started = time.monotonic()
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        rest = max(left - (time.monotonic() - started), 0.001) if left else 0.0
        signal.setitimer(signal.ITIMER_REAL, rest, interval)
