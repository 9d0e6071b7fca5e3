"""Nets that need every layer, their decoys, and what measures say of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from depthlaw.advisor.atlas import atlas
from depthlaw.empirics.audit.explicit import load, save
from depthlaw.empirics.audit.known_answers import (
    DECOYS,
    DOCUMENTS,
    KnownNet,
    answer,
    known_net,
    table,
    values,
)
from depthlaw.empirics.audit.layered import layered
from depthlaw.empirics.audit.statistics import Call
from depthlaw.theory.least_depth.written_nets import FILES

ROWS = {row["net"]: row for row in table("known_answers")}
RULES = {(row["measure"], row["variant"]): row for row in table("known_rules")}
MUST = [rule for rule in RULES.values() if rule["must"] == "yes"]
QUICK = ["blocks-hard", "dyck-hard", "kgram", "product-of-four", "hops-causal", "parity"]


@cache
def net(name: str, decoy: str = "") -> KnownNet:
    made = known_net(ROWS[name], decoy)
    assert made is not None
    return made


def test_the_table_names_nets_of_files_and_bounds_of_the_atlas() -> None:
    known = {bound.claim or bound.source for bound in atlas().bounds}
    for row in ROWS.values():
        made = FILES[row["net"]]() if row["net"] in QUICK else None
        layers = made["layers"] if isinstance(made, dict) else getattr(made, "layers", None)
        assert layers is None or len(layers) == int(row["layers"])
        assert (row["needed"] == "measured") == (not row["proof"])
        assert not row["proof"] or row["proof"] in known
    assert {rule["measure"] for rule in MUST} == {"removal", "exit_loss", "settling_depth"}


# Without a layer of kgram two letters have the most votes in some words, and rounding decides.
@pytest.mark.parametrize("name", [name for name in QUICK if name != "kgram"])
def test_removal_errs_as_often_as_exact_arithmetic_says(name: str) -> None:
    known = net(name)
    assert len(known.documents) == DOCUMENTS == len(set(map(tuple, known.documents.ids.tolist())))
    by_layer = values(known, "removal", "error")
    assert tuple(by_layer[i].mean() for i in range(len(by_layer))) == known.exact
    assert min(known.exact) > 0


@pytest.mark.parametrize("name", QUICK)
def test_no_needed_layer_is_called_superfluous_where_none_may_be(name: str) -> None:
    for decoy in ("", "zero", "loud"):
        said = [answer(net(name, decoy), rule) for rule in MUST]
        assert not said[0].wrong
        assert all(call is not Call.SUPERFLUOUS for x in said[1:] for call in x.calls.values())
        assert decoy == "" or (said[0].below or 0) > 0


def test_measures_of_hidden_states_rank_a_loud_decoy_above_needed_layers() -> None:
    influence, removal = (RULES["block_influence", "mean"], RULES["removal", "error"])
    for name in ("blocks-hard", "dyck-hard", "kgram"):
        silent, loud = (answer(net(name, decoy), influence) for decoy in ("zero", "loud"))
        assert silent.below is not None
        assert silent.below > 0
        assert loud.below is not None
        assert loud.below < 0
        assert loud.wrong
        assert answer(net(name, "loud"), removal).calls[1] is Call.SUPERFLUOUS


def test_a_copied_layer_is_named_and_either_copy_may_go() -> None:
    known = net("blocks-hard", "copied")
    assert layered(known.net).shared == ((1, 2),)
    said = answer(known, RULES["removal", "error"])
    assert {said.calls[1], said.calls[2]} == {Call.SUPERFLUOUS}
    assert known_net(ROWS["hops-causal"], "copied") is None


def test_recurrent_nets_have_the_silent_decoy_alone(tmp_path: Path) -> None:
    assert [known_net(ROWS["s4-diagonal"], decoy) is None for decoy in DECOYS] == [0, 1, 1]
    known = net("s4-diagonal", "zero")
    said = answer(known, RULES["removal", "error"])
    assert [*said.calls.values()] == [Call.NEEDED, Call.SUPERFLUOUS, Call.NEEDED, Call.NEEDED]
    save(known.net, tmp_path)
    assert load(tmp_path).labels == known.net.labels


def test_a_measure_that_is_not_defined_says_nothing() -> None:
    assert answer(net("s4-diagonal", "zero"), RULES["contribution", "parts"]).calls == {}
