"""The tables of docs/audit-known-answers.md and docs/audit-results.md, made of the files of JSON
beside them, which scripts in benchmarks/ write."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from depthlaw.empirics.audit.statistics import Estimate

from ..appendix.typesetting import md, pipe_table
from ..audit.sentences import number, percent, span
from ..tables import csv_rows

_MARK = re.compile(r"<!-- audit: (\S+) -->")
_KNOWN, _RESULTS = "audit-known-answers.json", "audit-results.json"


def filled(text: str, docs: Path) -> str:
    """A page with its tables.

    Args:
        docs: the folder that holds the files of JSON.

    Raises:
        KeyError: for a mark that names no table.
    """

    def part(mark: re.Match[str]) -> str:
        name, make = _PARTS[mark[1]]
        return make(json.loads((docs / name).read_text(encoding="utf-8")))

    return _MARK.sub(part, text)


# --- known answers ---


def _rules() -> Iterator[tuple[str, dict[str, str]]]:
    """The rules with a threshold, each by its name in the JSON."""
    for rule in csv_rows("depthlaw.empirics.audit", "known_rules.csv"):
        if rule["threshold"]:
            yield f"{rule['measure']} {rule['variant']}", rule


def _calls(found: dict[str, Any]) -> str:
    def row(key: str, must: str) -> Iterator[str]:
        yield f"`{key}`"
        yield must if must == "yes" else ""
        needed = "".join(net["said"][key] for net in found["nets"] if not net["decoy"])
        yield from (str(needed.count(letter)) for letter in "nus")
        for decoy in ("zero", "loud"):
            own = [net for net in found["nets"] if net["decoy"] == decoy]
            said = [net["said"][key][1] for net in own]
            yield f"{said.count('s')} of {len(said) - said.count('-')}"
        yield f"{sum(key in net['lowest'] for net in own)} of {len(said) - said.count('-')}"

    return pipe_table(
        "measure | must | needed: | undecided: | superfluous: | zero: | loud: | loud least:",
        (row(key, rule["must"]) for key, rule in _rules()),
    )


def _failures(found: dict[str, Any]) -> str:
    own = [net for net in found["nets"] if not net["decoy"]]

    def names(key: str) -> Iterator[str]:
        for net in own:
            if "s" in net["said"][key]:
                bold = "**" if set(net["said"][key]) == {"s"} else ""
                yield f"{bold}{net['net']}{bold}"

    lines = [(f"`{key}`", listed) for key, _ in _rules() if (listed := list(names(key)))]
    return pipe_table(
        "measure | nets: | which", ((key, str(len(of)), ", ".join(of)) for key, of in lines)
    )


def _open(found: dict[str, Any]) -> str:
    return pipe_table(
        "measure | net | layer: | words: | share of answers",
        (
            (
                f"`{row['measure']} {row['variant']}`",
                md(row["net"]),
                str(row["layer"]),
                f"{row['words']:,}",
                md(f"{row['value']:.4f} [{row['low']:.4f}, {row['high']:.4f}]"),
            )
            for row in found["not needed"]
        ),
    )


# --- results ---


def _written(write: Callable[[Estimate], str], told: dict[str, Any] | None) -> str:
    """A number of the JSON with its interval; what stands for it without a head."""
    return md(write(Estimate(**({"rule": ""} | told)))) if told else "no head"


def _table(audit: dict[str, Any], key: str, variant: str) -> dict[str, Any] | None:
    """By layer; tables of blocks stand behind it."""
    found = (each for each in audit["tables"] if (each["key"], each["variant"]) == (key, variant))
    return next(found, None)


def _settled(audit: dict[str, Any]) -> str:
    found = _table(audit, "settling_depth", "mean")
    return _written(number, found and found["rows"][0]["estimate"])


def _cost(search: dict[str, Any]) -> str:
    cost = _written(percent, search["chosen"]["estimate"])
    return f"{span(search['first'], search['last'])}: {cost}, {search['call'] or 'not called'}"


def _models(found: dict[str, Any]) -> str:
    def row(name: str, audit: dict[str, Any]) -> Iterator[str]:
        searches = audit["searches"]
        yield md(name)
        yield f"{audit['model']['parameters']:,}"
        yield _written(number, audit["loss"])
        yield _cost(searches[0])
        yield _written(percent, searches[0]["random"])
        yield _cost(searches[-1]) if len(searches) > 1 else "not asked"
        yield _written(percent, searches[-1]["random"]) if len(searches) > 1 else ""
        yield _settled(audit)

    return pipe_table(
        "model | weights: | loss in nats: | cheapest layer | mean layer: | cheapest block "
        "| random sets as large: | settling depth:",
        (row(name, audit) for name, audit in found["models"].items()),
    )


def _answers(audits: dict[str, dict[str, Any]]) -> str:
    return "\n".join(f"* **{md(name)}.** {md(audit['says'])}" for name, audit in audits.items())


def _ladder(found: dict[str, Any]) -> str:
    """Of each rung that some model has, the share right of every model, whole and without the
    layers in its heading; below it, how many were lost, and of how many theory says so."""
    models = found["models"]
    heading = "rung | least depth: " + "".join(
        f"| {md(name)}, without {audit['without']} " for name, audit in models.items()
    )

    def cell(rung: dict[str, Any]) -> str:
        state = f"**{rung['state']}**" if rung["state"] == "lost" else rung["state"]
        return f"{rung['before']['value']:.2f} to {rung['after']['value']:.2f}, {state}"

    lines = []
    for rungs in zip(*(audit["ladder"] for audit in models.values()), strict=True):
        rung = rungs[0]["rung"]
        enough = "not known" if rung["suffices"] is None else f"at most {rung['suffices']:g}"
        needed = enough if rung["needed"] is None else f"{rung['needed']:g}"
        if any(one["state"] != "never had" for one in rungs):
            lines.append((f"{rung['ladder']} {rung['level']}", needed, *map(cell, rungs)))
    said = []
    for name, audit in models.items():
        had = [one for one in audit["ladder"] if one["state"] != "never had"]
        lost = [one for one in had if one["state"] == "lost"]
        beyond = [one for one in had if one["beyond"]]
        both = sum(one in lost for one in beyond)
        said.append(
            f"* {md(name)} has {len(had)} of {len(audit['ladder'])} rungs. It loses {len(lost)}. "
            + f"For {len(beyond) or 'none'} of them theory asks for more layers than are left"
            + (f"; of these it loses {both}." if beyond else ".")
        )
    return "\n\n".join([pipe_table(heading.strip(), lines), "\n".join(said)])


def _nulls(audits: dict[str, dict[str, Any]]) -> str:
    """Which measures do not tell each model from its null models."""

    def untold(audit: dict[str, Any], null: str) -> str:
        if null in audit["refused"]:
            return "cannot be drawn"
        asked = [each for each in audit["tables"] if null in each["told"]]
        known = [each for each in asked if each["told"][null]["told"] is not None]
        by: dict[bool, list[str]] = {True: [], False: []}
        for each in known:
            by[each["told"][null]["told"]].append(f"`{each['key']} {each['variant']}`")
        of_nets = ", each" if known and known[0]["told"][null]["about"] == "nets" else ""
        few = len(by[True]) >= len(by[False])
        said = f"{'not by' if few else 'by'} {', '.join(by[not few])}"
        return f"{len(by[True])} of {len(known)}{of_nets}" + (f"; {said}" if by[not few] else "")

    nulls = ("initialised", "permuted", "shuffled")
    return pipe_table(
        "model | from fresh weights | from its layers in random order | from shuffled tokens",
        ((md(name), *(untold(audit, null) for null in nulls)) for name, audit in audits.items()),
    )


def _of_wheels(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {f"{each['name']}, {each['sample']}": each["audit"] for each in found["wheels"]}


def _wheels(found: dict[str, Any]) -> str:
    def row(wheel: dict[str, Any]) -> Iterator[str]:
        audit = wheel["audit"]
        yield md(f"{wheel['name']} {wheel['version']}")
        yield md(wheel["licence"])
        yield f"{md(wheel['sample'])}: {audit['text']['documents']} of {audit['text']['tokens']}"
        yield _written(number, audit["loss"])
        costs = ((one["size"], one["chosen"]["estimate"]) for one in audit["searches"])
        yield "; ".join(f"{size}: {_written(percent, cost)}" for size, cost in costs) or "no head"
        yield _settled(audit)

    return pipe_table(
        "wheel | licence it names | documents and their tokens | loss in nats: "
        "| cheapest block of 1, 2, ... layers | settling depth:",
        (row(wheel) for wheel in found["wheels"]),
    )


def _by_layer(found: dict[str, Any]) -> str:
    """Of the wheels, by layer: block influence, and the loss of the read-out."""

    def lines() -> Iterator[tuple[str, ...]]:
        for name, audit in _of_wheels(found).items():
            for key, variant in (("block_influence", "mean"), ("exit_loss", "loss")):
                if of := _table(audit, key, variant):
                    values = (f"{row['estimate']['value']:.3g}" for row in of["rows"])
                    yield md(name), f"`{key}`", " ".join(values)

    return pipe_table("wheel | measure | after layer 1, 2, ...", lines())


def _statements(found: dict[str, Any]) -> str:
    def numbers(of: dict[str, Any]) -> str:
        if isinstance(next(iter(of.values()), 0), dict):
            return "; ".join(f"{key}: {numbers(value)}" for key, value in of.items())
        # A mean over no removal is none.
        known = {key: value for key, value in of.items() if value is not None}
        said = (f"{value:.3g}" if isinstance(value, float) else value for value in known.values())
        return ", ".join(f"{key} {value}" for key, value in zip(known, said, strict=True))

    blocks = []
    for one in found["statements"]:
        by_model = (f"* {md(name)}: {md(numbers(of))}" for name, of in one["numbers"].items())
        heading = f"**{md(one['says'])}** {one['verdict']}, of these models."
        about = [f"* Source: {md(one['source'])}.", f"* Reading: {md(one['reading'])}"]
        blocks.append("\n".join([heading, "", *about, *by_model]))
    return "\n\n".join(blocks)


def _prune(found: dict[str, Any]) -> str:
    """What the cheapest layer costs, and the cheapest half of all layers."""

    def cost(search: dict[str, Any]) -> str:
        return _written(percent, search["chosen"]["estimate"])

    return pipe_table(
        "one layer is | model | without one | without half",
        (
            (
                audit["searches"][0]["call"] or "not called",
                md(name),
                cost(audit["searches"][0]),
                cost(audit["searches"][-1]) if len(audit["searches"]) > 1 else "the same",
            )
            for name, audit in found["models"].items()
        ),
    )


_PARTS: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "calls": (_KNOWN, _calls),
    "failures": (_KNOWN, _failures),
    "open": (_KNOWN, _open),
    "models": (_RESULTS, _models),
    "prune": (_RESULTS, _prune),
    "answers": (_RESULTS, lambda found: _answers(found["models"])),
    "ladder": (_RESULTS, _ladder),
    "nulls": (_RESULTS, lambda found: _nulls(found["models"])),
    "wheels": (_RESULTS, _wheels),
    "by-layer": (_RESULTS, _by_layer),
    "wheel-answers": (_RESULTS, lambda found: _answers(_of_wheels(found))),
    "wheel-nulls": (_RESULTS, lambda found: _nulls(_of_wheels(found))),
    "statements": (_RESULTS, _statements),
}
