"""Files that may be anything: opened without waiting, read as JSON, refused in one line."""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from .quantities import UsageError, quoted


@contextmanager
def regular_file(
    path: str, name: str, accepted: str, missing: str = "there is no such file"
) -> Iterator[tuple[BinaryIO, int]]:
    """A regular file, opened to read, and its size in bytes.

    Args:
        path: where it lies.
        name: what errors call it.
        accepted: what they say to give instead.
        missing: what they say where there is none.

    Raises:
        UsageError: where there is none, it cannot be read, or it is no regular file, such as a pipe
            that nobody writes to.
    """
    try:
        # Without blocking, since it may be such a pipe.
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            facts = os.fstat(number)
            if not stat.S_ISREG(facts.st_mode):
                raise UsageError(f"{name} is not a regular file; {accepted}")
            with open(number, "rb", closefd=False) as opened:
                yield opened, facts.st_size
        finally:
            os.close(number)
    except FileNotFoundError:
        raise UsageError(f"cannot read {name}: {missing}; {accepted}") from None
    except UsageError:
        raise
    except (OSError, ValueError) as error:
        why = "no file has such a name"
        if isinstance(error, OSError):
            why = error.strerror or type(error).__name__
        raise UsageError(f"cannot read {name}: {why}; {accepted}") from None


def json_object(
    data: bytes, name: str, what: str, accepted: str, *, infinite: bool = False
) -> dict[str, Any]:
    """The JSON object that a file holds: no key twice, every number finite.

    Args:
        data: the contents, UTF-8.
        name: what errors call the file.
        what: what it should be, such as "a configuration".
        accepted: what errors say to give instead.
        infinite: whether it may say Infinity, as a limit of steps in published configurations.

    Raises:
        UsageError: for anything else.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in pairs:
            if key in values:
                raise UsageError(f"{name} has the key {quoted(key)} twice; remove one of them")
            values[key] = value
        return values

    def finite(text: str) -> float:
        value = float(text)
        if not math.isfinite(value) and not (infinite and text == "Infinity"):
            raise UsageError(
                f"{name} holds {quoted(text)}, which is not a finite number; {what} has none"
            )
        return value

    try:
        values = json.loads(
            data.decode("utf-8-sig"),
            object_pairs_hook=unique,
            parse_constant=finite,
            parse_float=finite,
        )
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not a text in UTF-8; {accepted}") from None
    except RecursionError:
        raise UsageError(f"{name} is nested too deeply for {what}; {accepted}") from None
    except json.JSONDecodeError as error:
        raise UsageError(
            f"{name} is not JSON: {error.msg.lower()} (line {error.lineno}, column "
            f"{error.colno}); {accepted}"
        ) from None
    except UsageError:
        raise
    except ValueError:  # Python limits the digits of an integer.
        raise UsageError(f"{name} holds a number of thousands of digits; {accepted}") from None
    if not isinstance(values, dict):
        raise UsageError(f"{name} is JSON, but not an object with keys and values; {accepted}")
    return values
