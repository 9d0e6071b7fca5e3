"""A command prints whatever the encoding of its output: what that lacks is written in ASCII."""

import io
import json
import sys

import pytest

from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.text import never_refuse, plain_letters

COMMANDS = (
    ("show", "hops/doubling"),
    ("why", "hops/doubling", "--all"),
    ("claims", "hops"),
    ("claims", "hops", "--json"),
    ("tasks",),
    ("tasks", "list", "parity"),
    ("tasks", "language", "a(a|b)*a|b"),
    ("tasks", "language", "a(a|b)*a|b", "--json"),
    ("depth", "1B", "--why"),
    ("compare", "llama3-8b", "qwen3-0.6b"),
    ("sweep", "--from", "100M", "--to", "1B"),
    ("mutate", "hops/doubling", "--suite", "quick", "--results", "reference"),
    ("records", "list", "--claim", "hops/doubling", "--results", "reference"),
    ("certify", "--help"),
    ("cite", "levine2020", "ye2025"),
)


def printed(monkeypatch, encoding: str, *words: str) -> tuple[int, str, str]:
    """Exit code and output of a command where both streams have an encoding, and refuse the rest;
    and what stood in the answer before."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    code = main(list(words))
    out.flush()
    return code, out.buffer.getvalue().decode(encoding), out.errors


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_prints_in_every_encoding(words, monkeypatch):
    code, usual, _ = printed(monkeypatch, "utf-8", *words)
    assert code == 0
    for encoding in ("cp1252", "ascii", "latin-1"):
        code, out, _ = printed(monkeypatch, encoding, *words)
        assert code == 0, encoding
        if "--json" in words:
            assert json.loads(out) == json.loads(usual), encoding
        else:
            assert plain_letters(out) == plain_letters(usual), encoding
            # Nothing that these commands print is without a sign or a name in ASCII.
            assert out.count("?") == usual.count("?"), encoding


def test_a_tree_and_quotes_are_drawn_in_ascii(monkeypatch):
    """Without the net below it, the same text raises."""
    said = "\u251c\u2500\u2500 \u201ceach\u201d \u2264 \u2308log\u2082 n\u2309"
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True)
    with pytest.raises(UnicodeEncodeError):
        stream.write(said)
    never_refuse(stream)
    stream.write(said)
    assert stream.buffer.getvalue() == b'+-- "each" <= ceil(log2 n)'
    _, out, _ = printed(monkeypatch, "ascii", "why", "hops/doubling")
    assert "\n+-- states h = a + b\n" in out
    _, out, _ = printed(monkeypatch, "utf-8", "why", "hops/doubling")
    assert "\n\u251c\u2500\u2500 states h = a + b\n" in out
