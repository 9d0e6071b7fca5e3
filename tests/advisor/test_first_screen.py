"""The first screen: five lines that a stranger can read, whatever was asked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from depthlaw.ledger.cli.arguments import main

QUESTIONS = """
    1.3B | 30M | 125M | 350M | 1B | 3B | 7B | 13B | 70B | 400B | 1T | 10M --vocabulary 65
    7e9 --count non-embedding | 3B --vocabulary 256000 | 1B --gqa 8 | 3B --ff 8 | 3B --plain
    1B --width 2048 | 1B --width 256 | 1B --layers 24 | 1B --layers 400 | 3B --most-layers 8
    3B --pipeline 5 | 3B --tensor 8 | 3B --pipeline 20 --layers 40 | 3B --head-width 100
    1B --loops 4 | 1B --encoder-decoder | 30B --experts 128 --active-experts 8
    30B --experts 64 --active-experts 6 --shared-experts 2 --dense-layers 1
    3B --latency-matters | 350M --ms-per-token 20 --bandwidth 50GB/s | 350M --memory 1GB --bits 4
    350M --ms-per-token 20 | 350M --ms-per-token 20 --bandwidth 50GB/s --ms-per-layer 0.1
    8B --kv-cache 500MB | 3B --parametrisation completep | 3B --norm post | 3B --norm lns
    1B --parametrisation mup | 3B --residual attnres | 3B --known-by 2021 | 3B --known-by 2024
    --flops 1e21 | --tokens 300B | 100M --tokens 300B | 3B --flops 1e22 | --memory 24GB
    --gpu H100 --gpus 8 --time 1week | 7B --gpu H100 --gpus 64 | 7B --gpu 4090 --time 1week
    3B --gpu H100 --gpus 64 --tokens 1T | --ms-per-token 20 --bandwidth 50GB/s
    --hf docs/examples/my-config | --hf docs/examples/my-config --latency-matters
    --hf docs/examples/my-config --pipeline 16 | --hf docs/examples/my-config --memory 1GB
    --task hops --hops 16 | --task hops --hops 5 | --task connectivity --diameter 64
    --task connectivity --diameter 64 --vertices 100 | --task regular --length 64
    --layers 24 --width 512 --norm post | 1B --tokens 20T | 100M --tokens 100M --epochs 40
    2B --mixer gated-deltanet | 3B --gpu H100 --gpus 64 --time 2weeks --loops 4 --context 32768
    2T | 1e15 | 70B --tokens 100B | 70B --tokens 400B | 1B --tokens 1 | gpt2
    --layers 100 --width 65536 | 50M --vocabulary 256000 | 100M --tokens 1B --epochs 400
    qwen3-next | mamba-2.8b --gpu H100 | ouro-1.4b | --gpu 4090 --time 8h
    --task parity | --task dyck | 3B --task hops --hops 16 | 3B --task regular --length 1024
"""
ASKED = [typed.strip() for typed in re.split(r"\||\n", QUESTIONS.strip())]
# Words of this project, of its tables and of its sources, that nobody has read before.
BANNED = r"""(?ix) \b( eligible | extrapolated | grids? | rungs? | ladder | regret | legal |
    reported | recalled | interval | rule's | pool | gemstones | marin | codelion | tay\ et |
    [a-z]+20\d\d | log_3 | d\ /\ L | L\ d\^2 | 6\ N\ D | d_ff ) \b"""
MOST = 25


def screen(typed: str, columns: int, monkeypatch: pytest.MonkeyPatch, capsys) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(["depth", *typed.split()]) == 0
    return capsys.readouterr().out


def sentences(text: str) -> Iterator[str]:
    """Of a screen of 80 columns; a row ends a sentence."""
    rows = re.sub(r"\n {2,}(?!- )", " ", text).splitlines()
    for row in rows:
        yield from re.split(r"(?<=[.?!]) +", row[9:] if re.match(r".{8} \S", row) else row)


def length(sentence: str) -> int:
    """Words and numbers; signs between them are none."""
    return len(re.findall(r"\S*\w\S*", sentence))


@pytest.mark.parametrize("typed", ASKED)
def test_five_lines_open_it_no_sentence_is_long_and_no_word_is_ours(
    typed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    text = screen(typed, 80, monkeypatch, capsys)
    assert [s for s in sentences(text) if length(s) > MOST] == []
    assert re.findall(BANNED, text.partition("\n")[2]) == []
    labels = re.findall("^(Answer|How sure|Changes|Floor|More) ", text, re.MULTILINE)
    usual = ["Answer", "How sure", "Changes", "Floor", "More"]
    assert labels == [label for label in usual if label in labels]
    narrow = screen(typed, 40, monkeypatch, capsys)
    assert all(len(line) <= 40 or " " not in line.strip() for line in narrow.splitlines())


@pytest.mark.parametrize(
    ("typed", "first", "net"),
    [
        ("--layers 12 --width 512", "Is the depth of the given net right: 12 layers", (12, 512)),
        ("--layers 12 --width 512 --memory 1GB --loops 3", "Is the depth of the given", (12, 512)),
        ("llama-3-8b", "Is the depth of Llama-3-8B right", (32, 4096)),
        ("meta-llama/Llama-3-8B --context 2048", "Is the depth of Llama-3-8B right", (32, 4096)),
    ],
)
def test_a_shape_or_the_name_of_a_model_alone_is_counted_and_judged(
    typed: str, first: str, net: tuple[int, int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["depth", *typed.split()]) == 0
    assert capsys.readouterr().out.startswith(first)
    assert main(["depth", *typed.split(), "--json"]) == 0
    given = json.loads(capsys.readouterr().out)["answer"]["given"]["architecture"]
    assert (given["layers"], given["width"]) == net


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("gpt-tow", "no model 'gpt-tow' among .* listed; nearest are .*"),
        ("--layers 12", "give a size .*, --layers and --width, "),
    ],
)
def test_what_cannot_be_judged_says_what_to_type(
    typed: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["depth", *typed.split()]) == 2
    assert re.search(said, capsys.readouterr().err)


def test_what_a_vocabulary_takes_from_the_layers_is_one_story(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = " ".join(screen("50M --vocabulary 256000", 80, monkeypatch, capsys).split())
    assert "Without --vocabulary: 12 layers" in text
    assert "to the layers: 2 layers, not the 12 of the budget." in text
    assert "5 layers, not reached, as a vocabulary of 256,000 leaves the layers too little." in text
    assert "8 layers" not in text
    assert "not reached" not in screen("50M", 80, monkeypatch, capsys)


@pytest.mark.parametrize("typed", ["gpt2", "1B", "1.3B", "100M", "gpt2-xl", "llama-3-8b"])
def test_how_sure_is_read_in_20_seconds_and_the_rest_is_in_why(
    typed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = screen(typed, 80, monkeypatch, capsys)
    sure = text.partition("How sure ")[2].partition("Changes ")[0]
    inside = "should" not in sure
    if inside:
        assert len(re.findall(r"[.](?=\s|$)", sure.replace("\n", " "))) <= 3
        assert len(re.findall(r"\d+", sure)) <= 12
    explained = screen(f"{typed} --why", 80, monkeypatch, capsys)
    if "Other tests" in sure:
        assert "layers beat" in explained


@pytest.mark.parametrize("typed", ["30M", "10M", "7B", "1B"])
def test_a_floor_above_the_shallow_end_of_the_range_says_why_it_is_no_contradiction(
    typed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = screen(typed, 80, monkeypatch, capsys)
    least, floor = (
        int(re.findall(pattern, text)[0])
        for pattern in (r"How sure (\d+) to \d+", r"Floor +(\d+) layers")
    )
    assert ("what a net can express" in " ".join(text.split())) == (least < floor)
    assert (least < floor) == (typed in ("30M", "10M"))
