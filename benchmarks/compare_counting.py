"""Count parameters with other tools and write ledger/publish/site/other_counts.csv, which `make
docs` shows beside our counts. Run: python benchmarks/compare_counting.py [--only TOOL]
[--cookbook FILE --cookbook-commit COMMIT]

Tools that are not installed keep the rows they have; llm-analysis needs an environment of its own,
since it pins old libraries, and transformers from version 5 on ties the output layer of every T5.
The tools get the configurations that depthlaw writes, as files, or
where they read none the same sizes as arguments: those that come closest to the net.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from depthlaw.advisor.architecture import Architecture
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.huggingface import config_of
from depthlaw.advisor.models import architecture, model, models

TEN = (
    *("GPT-2 XL", "Llama-3-8B", "Llama-3.2-1B", "Gemma-1-7B", "Qwen2.5-7B", "Falcon-7B"),
    *("Mixtral-8x7B", "DeepSeek-V2-Lite", "T5-Large", "ALBERT-base"),
)
OUT = Path(__file__).parents[1] / "ledger" / "publish" / "site" / "other_counts.csv"
COLUMNS = ("tool", "version", "date", "model", "parameters", "how")
Row = tuple[str, int | None, str]  # model, parameters (None: no answer), how it was asked


def transformers_counts() -> Iterator[Row]:
    """Every listed model that a class of transformers holds, built without memory."""
    import torch
    import transformers

    for listed in models():
        if not listed.complete:
            continue
        try:
            values = config_of(architecture(listed))
        except UsageError:
            continue
        (kind,) = values.pop("architectures")
        values.pop("model_type", None)
        made = getattr(transformers, kind)
        with torch.device("meta"):
            net = made(made.config_class(**values))
        yield listed.name, sum(p.numel() for p in net.parameters()), f"{kind} on the meta device"


def accelerate_counts() -> Iterator[Row]:
    """Its estimator on a folder, the look-up on the Hub answered by hand."""
    from accelerate.commands import estimate

    estimate.verify_on_hub = lambda *_: SimpleNamespace(config={}, library_name="transformers")
    for name, folder in _folders():
        of = {"model_name": folder, "library_name": "transformers", "dtypes": ["float32"]}
        asked = SimpleNamespace(**of, trust_remote_code=False)
        ((_, _, size, _),) = estimate.gather_data(asked)
        yield name, size // 4, "estimate-memory, 32-bit bytes / 4, Hub look-up replaced by a folder"


def llm_analysis_counts(by_hand: bool) -> Callable[[], Iterator[Row]]:
    """Its own reading of a config.json, or sizes given by hand, a gate as half a network more (as
    in its own list)."""

    def found() -> Iterator[Row]:
        from llm_analysis import config
        from llm_analysis.analysis import LLMAnalysis

        for name, folder in _folders():
            a = architecture(model(name))
            try:
                read = (
                    config.ModelConfig(**_by_hand(a))
                    if by_hand
                    else config.get_model_config_from_hf(folder)
                )
            except Exception as error:
                yield name, None, f"not read: {type(error).__name__} {error}"
                continue
            counted = LLMAnalysis(read, config.get_gpu_config_by_name("a100-sxm-80gb"))
            how = "ModelConfig by hand" if by_hand else "get_model_config_from_hf on a folder"
            yield name, round(counted.get_num_params_total()), how

    return found


def _by_hand(a: Architecture) -> dict[str, Any]:
    inner = a.experts.width if a.experts else a.d_ff
    inner = inner * 3 // 2 if a.gated else inner
    experts = (
        {"moe_num_experts": a.experts.count, "moe_top_k": a.experts.active} if a.experts else {}
    )
    return {
        "name": a.name,
        "num_layers": a.encoder_layers + a.layers,
        "n_head": a.heads,
        "hidden_dim": a.width,
        "vocab_size": a.vocabulary,
        "max_seq_len": a.context,
        "num_key_value_heads": a.key_heads,
        "ffn_embed_dim": inner,
        "expansion_ratio": inner / a.width,
        **experts,
    }


def cookbook_counts(script: Path) -> Callable[[], Iterator[Row]]:
    """Its script for parameters, whose feed-forward factor is a whole number."""

    def found() -> Iterator[Row]:
        for name in TEN:
            a = architecture(model(name))
            inner = a.experts.width if a.experts else a.d_ff
            sizes = {"-l": a.encoder_layers + a.layers, "-hs": a.width, "-v": a.vocabulary}
            sizes |= {"-s": a.context, "-kv": a.key_heads / a.heads}
            sizes |= {"-ff": max(1, round(inner / a.width)), "-nl": 3 if a.gated else 2}
            texts = [str(each) for pair in sizes.items() for each in pair]
            if a.experts:
                texts += ["--moe", "-e", str(a.experts.count), "-t", str(a.experts.active)]
            said = subprocess.run(
                [sys.executable, str(script), *texts], capture_output=True, text=True, check=True
            ).stdout
            number, unit = re.search(r"Total Params in the Model: (\S+) (\w)", said).groups()
            yield name, round(float(number) * 1000 ** " KMBT".index(unit)), " ".join(texts)

    return found


def _folders() -> Iterator[tuple[str, str]]:
    """The ten models, each with a folder that holds its config.json for the moment."""
    for name in TEN:
        with tempfile.TemporaryDirectory() as folder:
            values = config_of(architecture(model(name)))
            (Path(folder) / "config.json").write_text(json.dumps(values), encoding="utf-8")
            yield name, folder


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    script = "EleutherAI/cookbook, calc/calc_transformer_params.py"
    parser.add_argument("--cookbook", type=Path, metavar="FILE", help=script)
    parser.add_argument("--cookbook-commit", default="", help="of that file")
    parser.add_argument("--only", default="", metavar="TOOL", help="tools whose name begins so")
    chosen = parser.parse_args()
    tools: dict[str, tuple[str, Callable[[], Iterator[Row]]]] = {
        "transformers": ("transformers", transformers_counts),
        "accelerate": ("accelerate", accelerate_counts),
        "llm-analysis, config.json": ("llm-analysis", llm_analysis_counts(False)),
        "llm-analysis, by hand": ("llm-analysis", llm_analysis_counts(True)),
    }
    kept = []
    if OUT.exists():
        with OUT.open(encoding="utf-8", newline="") as file:
            kept = list(csv.DictReader(file))
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    for tool, (package, counts) in tools.items():
        if not tool.startswith(chosen.only):
            continue
        try:
            release = version(package)
            rows = list(counts())
        except (ImportError, PackageNotFoundError) as error:
            sys.stderr.write(f"{tool}: left as it is ({error})\n")
            continue
        kept = _replaced(kept, tool, release, today, rows)
    if chosen.cookbook:
        rows = list(cookbook_counts(chosen.cookbook)())
        kept = _replaced(kept, "EleutherAI cookbook", chosen.cookbook_commit, today, rows)
    with OUT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)
    return 0


def _replaced(
    kept: list[dict[str, str]], tool: str, release: str, today: str, rows: list[Row]
) -> list[dict[str, str]]:
    sys.stderr.write(f"{tool} {release}: {len(rows)} models\n")
    cells = [
        (tool, release, today, name, "" if n is None else str(n), how) for name, n, how in rows
    ]
    new = [dict(zip(COLUMNS, row, strict=True)) for row in cells]
    return [row for row in kept if row["tool"] != tool] + new


if __name__ == "__main__":
    sys.exit(main())
