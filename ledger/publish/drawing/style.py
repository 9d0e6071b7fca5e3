"""How pictures look, and that equal ones are equal files."""

from __future__ import annotations

from typing import Any

STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "mathtext.fontset": "dejavusans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
    "text.usetex": False,
    "svg.hashsalt": "depthlaw",
}


def metadata(form: str) -> dict[str, Any]:
    """What is written into a picture's file beside the picture: nothing. A note of when it was
    made, or by which release, would make equal figures differ."""
    return {
        "png": {"Software": None},
        "svg": {"Date": None, "Creator": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    }[form]
