"""depthlaw: executable theorems on transformer depth. How deep must a transformer be, and how do we
know?

Attributes are loaded when they are first used, so that `import depthlaw` costs nothing. Each
command of the command line prints what a function here returns:

    recommend: how deep a net should be, in one buildable shape (`depthlaw depth`).
    sweep: the same for a range of sizes.
    compare: models and configurations side by side.
    fit: the best depths of a loss surface.
    audit: whether the depth of a trained model is used (`depthlaw audit`); AuditCallback: the same
        during training, which needs the extra hf.
    tasks: the atlas of least depth as a table; atlas: how many layers tasks need, at numbers.
    check: explicit weights or a lower bound against the atlas (`depthlaw tasks check`).
    claims: every claim by key (`depthlaw claims --all`).
    show: one claim with its evidence; its `why()`: what the verdict rests on.
    verify: run a suite and judge it.
    falsify, mutate: try to break claims.
    cite: the BibTeX behind claims; appendix: what a paper attaches.
    UsageError: what all of them raise, a ValueError in one line.
    __version__: of the installed package.

>>> import depthlaw
>>> depthlaw.recommend("1.3B", pipeline=4).layers % 4
0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from depthlaw.advisor.base.quantities import UsageError
    from depthlaw.empirics.audit.callback import AuditCallback as AuditCallback
    from depthlaw.ledger.functions.appendix import appendix
    from depthlaw.ledger.functions.atlas import atlas
    from depthlaw.ledger.functions.audit import audit
    from depthlaw.ledger.functions.check import check
    from depthlaw.ledger.functions.cite import cite
    from depthlaw.ledger.functions.claims import claims
    from depthlaw.ledger.functions.compare import compare
    from depthlaw.ledger.functions.falsify import falsify
    from depthlaw.ledger.functions.fit import fit
    from depthlaw.ledger.functions.mutate import mutate
    from depthlaw.ledger.functions.recommend import recommend
    from depthlaw.ledger.functions.show import show
    from depthlaw.ledger.functions.sweep import sweep
    from depthlaw.ledger.functions.tasks import tasks
    from depthlaw.ledger.functions.verify import verify

    __version__: str

__all__ = [
    "UsageError",
    "__version__",
    "appendix",
    "atlas",
    "audit",
    "check",
    "cite",
    "claims",
    "compare",
    "falsify",
    "fit",
    "mutate",
    "recommend",
    "show",
    "sweep",
    "tasks",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("depthlaw")
    homes = {
        "UsageError": "advisor.base.quantities",
        "AuditCallback": "empirics.audit.callback",
    }
    if name in __all__ or name in homes:
        from importlib import import_module

        home = homes.get(name, f"ledger.functions.{name}")
        return getattr(import_module(f"depthlaw.{home}"), name)
    from difflib import get_close_matches

    near = get_close_matches(name, __all__, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
