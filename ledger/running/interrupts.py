"""Stopping in good order: signals and the time limit end a command with one line."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

TIME_IS_UP = "the time limit of --minutes is reached"


class Stopped(KeyboardInterrupt):
    """A signal or the time limit stopped the driver; the message says which. No `except Exception`
    on the way may swallow it."""


@contextmanager
def stoppable(seconds: float | None) -> Iterator[None]:
    """Turn SIGINT, SIGTERM and the end of the time into `Stopped`; engines then close."""
    reasons = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
    if seconds is not None:
        reasons[signal.SIGALRM] = TIME_IS_UP

    def stop(number: int, frame: object) -> None:
        raise Stopped(reasons[signal.Signals(number)])

    try:
        before = {number: signal.signal(number, stop) for number in reasons}
    except ValueError:
        # Not in the main thread: whoever owns the process handles its signals.
        yield
        return
    try:
        with _alarm(seconds):
            yield
    finally:
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
