"""What depthlaw prints and measures on one machine, as JSON on the standard output; the settings of
the process imitate another machine.

    python tests/portable/machine.py [--rest]
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import os
import random
import re
import runpy
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    *("README.md", "docs/depth.md", "docs/loss-surfaces.md", "docs/tutorial.md"),
    "docs/how-to/check-a-theorem.md",
)
ADVICE = (
    "depth 1.3B",
    "depth 124M --tokens 10B",
    "depth --flops 1e21",
    "depth 7B --why",
    "depth 350M --parametrisation completep",
    "depth --task hops --hops 16",
    "depth --task connectivity --diameter 27",
    "compare llama-3-8b qwen3-8b",
    # Limits of latency: fitted to noisy points, and by the bandwidth; some force the answer.
    "depth 2B --latency latency.csv --ms-per-token 5",
    "depth --latency latency.csv --ms-per-token 4 --vocabulary 128256",
    "depth 8B --ms-per-token 9 --bandwidth 2039GB/s",
    "depth 8B --ms-per-token 6 --bandwidth 3350GB/s --ms-per-layer 0.05",
    "depth 8B --layers 36",
    "sweep --from 100M --to 1T",
)
# Of every kind of value one or two: exact, ball, sample, proportion, trained.
PRINTED = (
    "hops/depth_corrected",
    "rank_collapse/decay_kernel",
    "rank_collapse/bert_init_collapse",
    "signal_propagation/softmax_norm",
    "trained_depth/connectivity_one_layer_wall",
    "depth_width/losses_by_updates",
    "separation_rank/error_floor",
)
_RANKS = "degree error_floor first_violation count_bounds dimension_count lower_bound_deep"
_SIGNALS = (
    "softmax_norm relu_kernel_above norm_concentration pre_norm_gradient_profile "
    "scaled_branches_correlation gradient_exponents"
)
# The part of suite quick whose records may differ in their last digits alone: all kinds of
# arithmetic (LAPACK, NumPy, torch forwards and backwards, intervals, whole numbers), without the
# trainings and long proofs, which are the rest.
PART = (
    "connectivity",
    "counting",
    "depth_choice",
    "evidence",
    "formal_languages",
    "hops",
    "rank_collapse",
    *(f"separation_rank/{name}" for name in _RANKS.split()),
    *(f"signal_propagation/{name}" for name in _SIGNALS.split()),
)


def settings() -> dict[str, Any]:
    """What is really in force in this process, as the libraries say it."""
    import scipy.linalg  # loads SciPy's OpenBLAS
    import torch
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
    from threadpoolctl import threadpool_info

    scipy.linalg.inv([[2.0]])
    pools = threadpool_info()
    blas = {
        Path(pool["filepath"]).parent.name.partition(".")[0]: pool["architecture"]
        for pool in pools
        if pool["internal_api"] == "openblas"
    }
    return {
        "blas": blas,
        "threads": sorted({torch.get_num_threads(), *(pool["num_threads"] for pool in pools)}),
        "numpy": [name for name in __cpu_dispatch__ if __cpu_features__[name]],
        "torch": torch.backends.cpu.get_cpu_capability(),
        "mkl": _verbose(_multiplied, r"CNR:(\w+)"),
        "onednn": _verbose(_convolved, r"isa:([^\n]*)"),
        "libm": _libm(),
    }


def _libm() -> str:
    """A hash over the last digits of exp and its kin."""
    draw = random.Random(0)
    values = [draw.uniform(-20, 20) for _ in range(20_000)]
    found = [(math.exp(x), math.log(abs(x)), math.sin(x), abs(x) ** 1.3) for x in values]
    return hashlib.sha256(repr(found).encode()).hexdigest()[:8]


def _multiplied() -> None:
    import torch

    square = torch.ones(64, 64, dtype=torch.float64)
    with torch.backends.mkl.verbose(torch.backends.mkl.VERBOSE_ON):
        square @ square


def _convolved() -> None:
    import torch

    with torch.backends.mkldnn.verbose(torch.backends.mkldnn.VERBOSE_ON):
        torch.nn.functional.conv2d(torch.ones(16, 8, 32, 32), torch.ones(8, 8, 3, 3))


def _verbose(work: Any, pattern: str) -> str:
    """What a library in C says of itself on the standard output while it works."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            work()
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        found = re.search(pattern, file.read().decode())
    return found[1] if found else ""


def printed(arguments: Sequence[str]) -> str:
    """What a command prints, and how it ends."""
    from depthlaw.ledger.cli.arguments import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = main(list(arguments))
    return f"$ depthlaw {shlex.join(arguments)}\n{out.getvalue()}[{code}]\n"


def transcripts() -> Iterator[tuple[str, str]]:
    """Each documented page, with what its commands print here."""

    from depthlaw.ledger.publish.site.transcripts import TERMINAL, folder_of, renewed

    def there(words: list[str], folder: Path) -> str:
        os.environ.update(TERMINAL)
        with contextlib.chdir(folder):
            return printed(words)

    for page in map(ROOT.joinpath, PAGES):
        text = page.read_text(encoding="utf-8")
        yield page.name, renewed(text, folder_of(page), there)


def surface() -> str:
    """Losses with a best depth of each size, with seeds, to four digits."""
    draw = random.Random(1)
    lines = ["width,depth,parameters,tokens,loss,seed"]
    for volume in (1e5, 3e5, 1e6, 3e6):
        for depth in (1, 2, 3, 4, 6, 8, 12, 16, 24):
            width = (volume / depth) ** 0.5
            for seed in range(3):
                loss = 1.7 + 60 * width**-0.98 + 1.5 * depth**-1.2
                loss *= 1 + draw.uniform(-0.004, 0.004) + 0.01 * seed
                lines.append(f"{width:.0f},{depth},{12 * volume:.0f},1e9,{loss:.4f},{seed}")
    return "\n".join(lines) + "\n"


def timed() -> str:
    """Times of nets with noise, as somebody measures them."""
    draw = random.Random(2)
    lines = ["L,d,ms"]
    for layers in (8, 16, 24, 32, 48):
        for width in (1024, 1536, 2048, 2560, 3072):
            true = 0.2 + 0.1 * layers + 16e-9 * layers * width**2
            lines.append(f"{layers},{width},{true * draw.gauss(1, 0.03):.4f}")
    return "\n".join(lines) + "\n"


def latency_limits() -> str:
    """The table of benchmarks/latency_limits.md."""
    table = runpy.run_path(str(ROOT / "benchmarks" / "latency_limits.py"))["table"]
    return str(table())


def appendix() -> dict[str, str]:
    """The numbers of an appendix from the shipped ledger."""
    from depthlaw.ledger.publish.appendix.document import write_appendix
    from depthlaw.ledger.verdicts.reference_ledger import shipped
    from depthlaw.theory.claims.definition import registry

    store, claims = shipped(), registry()
    assert store is not None
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder) / "pages"
        write_appendix(pages, {key: claims[key] for key in PRINTED}, store, keys=PRINTED)
        names = ("values.tex", "results.csv")
        return {name: (pages / name).read_text(encoding="utf-8") for name in names}


def measured(folder: Path, *, rest: bool) -> tuple[dict[str, str], dict[str, str]]:
    """The verdict of every claim of the part of suite quick, or of the rest, and of every case;
    every record's result."""
    from depthlaw.theory.claims.definition import registry

    others = [
        key
        for key, claim in registry().items()
        if claim.cases("quick") and not {key, claim.topic} & {*PART}
    ]
    chosen = [word for name in (others if rest else PART) for word in ("--only", name)]
    command = f"verify quick --engine inline --quiet --json --results {shlex.quote(str(folder))}"
    text = printed([*shlex.split(command), *chosen])
    report = json.loads(text[text.index("{") : text.rindex("}") + 1])
    verdicts = {claim["key"]: claim["verdict"] for claim in report["claims"] if claim["cases"]}
    verdicts |= {
        f"{claim['key']} {json.dumps(case['case'])}": case["verdict"]
        for claim in report["claims"]
        for case in claim["results"]
    }
    verdicts |= {
        f"{claim['key']} (negative control)": str(claim["control"]["fails"])
        for claim in report["claims"]
        if claim["control"]
    }
    records = {}
    for path in (folder / "runs").rglob("*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        del record["inputs"]["code"]
        inputs, result = (json.dumps(record[part], sort_keys=True) for part in ("inputs", "result"))
        records[inputs] = result
    return verdicts, records


def main(*, rest: bool) -> dict[str, Any]:
    from depthlaw.theory.claims.definition import registry

    found: dict[str, Any] = {"settings": settings()}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_DATA_HOME"] = folder
        losses = Path(folder) / "losses.csv"
        losses.write_text(surface(), encoding="utf-8")
        if not rest:
            found["transcripts"] = dict(transcripts())
            with contextlib.chdir(folder):
                found["fit"] = {"seeds": printed(["fit", "losses.csv", "--seed-column", "seed"])}
                (Path(folder) / "latency.csv").write_text(timed(), encoding="utf-8")
                found["advice"] = {line: printed(line.split()) for line in ADVICE}
            found["transcripts"]["latency_limits"] = latency_limits()
            found["appendix"] = appendix()
        found["verdicts"], found["records"] = measured(Path(folder) / "records", rest=rest)
    found["not portable"] = sorted(key for key, claim in registry().items() if not claim.portable)
    return found


if __name__ == "__main__":
    json.dump(main(rest="--rest" in sys.argv), sys.stdout)
