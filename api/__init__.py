"""depthlaw: executable theorems on transformer depth. How deep must a transformer be, and how do we
know?

Attributes are loaded when they are first used, so that `import depthlaw` costs nothing:

    recommend: how deep a net should be, in one buildable shape (`depthlaw depth`).
    claims: every claim by key (`depthlaw claims --all`).
    verify: run a suite and judge it (`depthlaw verify`).
    atlas: how many layers tasks need, at numbers (`depthlaw tasks`).
    check: explicit weights or a lower bound against it (`depthlaw tasks check`).
    __version__: of the installed package.

>>> import depthlaw
>>> depthlaw.recommend("1.3B", pipeline=4).shape.architecture.layers % 4
0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from depthlaw.ledger.python_api import atlas, check, claims, recommend, verify

    __version__: str

__all__ = ["__version__", "atlas", "check", "claims", "recommend", "verify"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("depthlaw")
    if name in __all__:
        from importlib import import_module

        return getattr(import_module("depthlaw.ledger.python_api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
