"""How deep a transformer should be: what nets cost, what published ones show, what laws say.

Nothing is loaded before it is used.

>>> from depthlaw.advisor import count, read_config, recommend
>>> recommend("3B").shape.counts.total > 2.9e9
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .counting import count
    from .huggingface import read_config
    from .recommendation import recommend

__all__ = ["count", "read_config", "recommend"]

_HOMES = {"count": "counting", "read_config": "huggingface", "recommend": "recommendation"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
