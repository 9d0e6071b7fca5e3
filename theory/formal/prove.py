"""Run the kernel of the Rocq prover over all proofs: `make prove`.

Compiles every file of `_CoqProject`, then `Link.v`, which is made of the claims: at every case of a
claim that names a theorem, the term that computes the theorem's right side must equal the claim's
prediction; where the theorem refutes the claim, its left side must contradict it. That the term
does compute it is a lemma, named as the term's function and an E. The second checker, coqchk, reads
what was compiled. Prints every theorem with what it assumes, and compares all of it with
`checked.json`, which the verdicts rest on; with --write that file is written.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

from sympy import Expr, exp, expand, expand_log, log, simplify

from depthlaw.advisor.base.quantities import UsageError

from ..claims.definition import Claim, registry
from ..claims.formal import asked, bare, checked, needed, sentences
from .exact_rank import exact_file
from .rests_on import rests_on

HERE = Path(__file__).parent
RECORD = HERE / "checked.json"
LIBRARY = "Depthlaw"
PACKAGES = (
    "coq libcoq-mathcomp-field libcoq-mathcomp-algebra-tactics libcoq-mathcomp-zify "
    "libcoq-mathcomp-multinomials"
)
# What the proofs are written for; mathcomp 2 and its names came with these.
OLDEST = (8, 20)
# Without the VM, coqchk needs more than ten minutes for what these compute: it does not read them.
COMPUTED = ("Exact", "Refutation")
CLOSED = "Closed under the global context"
# The axioms of the standard real numbers, which a theorem about them may rest on.
REALS = (
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
)
# What contradicts a statement, by its relation; see `link_file`.
_CONTRARY = {"==": "differs", "<=": "above", "<": "above", ">=": "below", ">": "below"}
_DECLARED = re.compile(r"^(?:Theorem|Corollary)\s+(\w+)", re.M)
# What takes something on trust. `Print Assumptions` and coqchk would tell of most of it too; found
# here before anything is compiled.
_FORBIDDEN = re.compile(
    r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjectures?|bypass_check|Declare\s+ML"
    r"|(?:Uns|S)et\s+\w+\s+Checking|native_(?:compute|cast_no_check)|Load)\b"
)
# What is discharged into a theorem by the end of its section, and is an axiom outside.
_OF_A_SECTION = re.compile(r"(?:#\[.*?\]\s*)?((?:Hypothes[ie]s|Variables?|Context)\b)")
# What coqchk reports, and what it must say: names of sealed library modules stand among its axioms.
_REPORT = (
    ("Theory", "Set is predicative"),
    ("Theory", "Rewrite rules are not allowed"),
    ("Axioms", ""),
    ("Constants/Inductives relying on type-in-type", "<none>"),
    ("Constants/Inductives relying on unsafe (co)fixpoints", "<none>"),
    ("Inductives whose positivity is assumed", "<none>"),
)


class NotAcceptedError(UsageError):
    """A file that the prover does not accept."""


def project() -> list[str]:
    """The names of the files, in the order in which they build on each other."""
    lines = (HERE / "_CoqProject").read_text(encoding="utf-8").splitlines()
    return [line.removesuffix(".v") for line in lines if line.endswith(".v")]


def theorems(name: str) -> list[str]:
    """The theorems of a file, in their order."""
    return _DECLARED.findall(bare((HERE / f"{name}.v").read_text(encoding="utf-8")))


def gaps(name: str) -> list[str]:
    """Words of a file by which something would be taken on trust, without a proof."""
    text = (HERE / f"{name}.v").read_text(encoding="utf-8")
    found, sections = [" ".join(words.split()) for words in _FORBIDDEN.findall(bare(text))], 0
    for sentence in sentences(text):
        sections += sentence.startswith("Section ") - sentence.startswith("End ")
        if not sections and (word := _OF_A_SECTION.match(sentence)):
            found.append(f"{word[1]} outside a section")
    return found


def versions() -> dict[str, str]:
    """The versions of the prover and of the libraries that the proofs name, as Debian's or opam's
    package manager knows them, else "unknown"."""
    here, ask = tool("coqc"), ["dpkg-query", "-W", "-f=${Package} ${Version}\n", "libcoq-*"]
    unpacked = Path(here).parent.parent / "versions"
    if unpacked.is_file():
        ask = ["cat", str(unpacked)]
    elif not here.startswith(("/usr/bin/", "/bin/")):
        ask = ["opam", "list", "--installed", "--short", "--columns=name,version", "coq-*"]
    known = {}
    for line in _printed(ask).splitlines():
        name, _, version = line.partition(" ")
        known[_short(name)] = re.split(r"[-+~]", version.strip())[0]
    libraries = [_short(name) for name in PACKAGES.split()[1:]]
    return {"Coq": prover()} | {name: known.get(name) or "unknown" for name in libraries}


def tool(name: str) -> str:
    """The path of a program of the prover, from the folder COQBIN if that is set, else from PATH;
    empty where there is none."""
    found = shutil.which(name, path=os.environ.get("COQBIN") or None)
    return str(Path(found).absolute()) if found else ""


def prover() -> str:
    """The version of the prover here; "unknown" without one."""
    return (_printed([tool("coqc"), "--print-version"]).split() or ["unknown"])[0]


def usable_prover() -> None:
    """Nothing, where the prover can read the proofs.

    Raises:
        UsageError: without a prover, for one that does not run, and for one that is older than the
            proofs.
    """
    unpack, there = "or `make prover` unpacks Debian 13's here", os.environ.get("COQBIN")
    if not (tool("coqc") and tool("coqchk")):
        missing = f"is not in COQBIN={there}" if there else "is not installed"
        raise UsageError(
            f"the prover coqc {missing}; on Debian 13: apt-get install {PACKAGES}; {unpack}"
        )
    if prover() == "unknown":
        raise UsageError(f"{tool('coqc')} does not run; name another in COQBIN, {unpack}")
    if (found := re.match(r"(\d+)\.(\d+)", prover())) and (int(found[1]), int(found[2])) < OLDEST:
        raise UsageError(
            f"the proofs need Coq 8.20 and mathcomp 2.3; {tool('coqc')} is Coq {prover()}: name "
            f"the folder of another in COQBIN, {unpack}"
        )


def _short(package: str) -> str:
    return package.removeprefix("lib").removeprefix("coq-")


def _printed(command: list[str]) -> str:
    """What a command prints; nothing where there is no such command."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def other_versions(made: dict[str, str], here: dict[str, str]) -> str:
    """In one line, with which other versions the record was made; empty if with the same."""
    names = [name for name in here if made and here[name] != made.get(name, "unknown")]
    then, now = (
        ", ".join(f"{name} {of.get(name, 'unknown')}" for name in names) for of in (made, here)
    )
    return f"made with {then}; this is {now}" if names else ""


def linked() -> dict[str, Claim]:
    """The claims that name a theorem, by key."""
    return {key: claim for key, claim in registry().items() if claim.formal is not None}


def comparisons(claim: Claim) -> Iterator[str]:
    """The sentences that the kernel must check, of all cases in scope, or of those refuted.

    Raises:
        ValueError: for a prediction, or its power under a logarithm, that is not rational.
        UsageError: for a refutation at what is no case of the claim.
    """
    assert claim.formal is not None
    said, refuted = set(), claim.formal.refutes
    cases = [case for case in claim.every_case if claim.broken(case) is None]
    if others := set(refuted) - set(cases):
        raise UsageError(f"{claim.key} has no case [{others.pop()}] in scope to be refuted at")
    for case in refuted or cases:
        term = claim.formal.value.format(**{k: _exact(v) for k, v in case.fields().items()})
        prediction, exponent = claim.predict(case), 0
        if claim.statement.rel_op == "in":
            if refuted:
                raise UsageError(f"{claim.key}: an interval is compared at both ends, not refuted")
            ends = ", ".join(_quotient(_end(claim, end)) for end in prediction)
            sentence = f"same ({term}) ({ends})"
            if sentence not in said:
                said.add(sentence)
                yield sentence
            continue
        if claim.formal.logarithm:
            value, exponent = power(claim.statement.lhs, prediction)
        else:
            value = Fraction(str(prediction))
        if refuted:
            contrary = _contrary(claim.statement.rel_op, claim.formal.bound)
            number = _quotient(value)
            if exponent:
                if exponent < 0 or contrary != "above":
                    raise UsageError(f"{claim.key}: e is bounded from above alone")
                number = f"({number} * (11 # 4) ^ {exponent})"
            sentence = f"{contrary} ({term}) {number}"
        elif exponent:
            raise ValueError(f"{claim.key} [{case}]: e^{exponent} is not a rational number")
        else:
            whole = value.denominator == 1
            sentence = (
                f"same ({term}) {f'{_whole(value.numerator)}%Z' if whole else _quotient(value)}"
            )
        if sentence not in said:
            said.add(sentence)
            yield sentence


def _end(claim: Claim, end: Any) -> Fraction:
    """An end of an interval, or the base to its power where the left side is a logarithm."""
    if not (claim.formal and claim.formal.logarithm):
        return Fraction(str(end))
    value, exponent = power(claim.statement.lhs, end)
    if exponent:
        raise ValueError(f"{claim.key}: e^{exponent} is not a rational number")
    return value


def power(left: Expr, prediction: Expr) -> tuple[Fraction, int]:
    """What a prediction says of the number under the logarithm on the left: the base to its power,
    as q e^k with a rational q and a whole k.

    Raises:
        ValueError: where it is no such number, or the left side is no logarithm of one symbol.

    >>> from sympy import E, Symbol, sqrt
    >>> power(log(Symbol("x"), 3), 2 + log(E / sqrt(2), 3) * 4)
    (Fraction(9, 4), 4)
    """
    (symbol,) = left.free_symbols
    natural = simplify(log(symbol) / left)
    found = exp(expand_log(expand(prediction * natural), force=True))
    rational, rest = found.as_coeff_Mul()
    exponent = log(rest)
    if not (
        natural.is_positive
        and rational.is_Rational
        and rational.is_positive
        and exponent.is_Integer
    ):
        raise ValueError(f"{left} = {prediction} does not say that a number is q e^k")
    return Fraction(int(rational.p), int(rational.q)), int(exponent)


def _contrary(relation: str, bound: str) -> str:
    """How the left side, or what it is at least or at most, must stand to the prediction.

    Raises:
        UsageError: for a bound on the side that the relation allows.
    """
    exact = _CONTRARY[relation]
    found = {"": exact, "at least": "above", "at most": "below"}[bound]
    if exact not in ("differs", found):
        raise UsageError(f"that a left side is {bound} a number contradicts no {relation}")
    return found


def _quotient(value: Fraction) -> str:
    return f"({_whole(value.numerator)} # {_whole(value.denominator)})"


def _whole(value: int) -> str:
    """A number as the prover reads it in time: long ones in base 16."""
    return f"{value:#x}" if abs(value) >= 10**100 else str(value)


def _exact(value: Any) -> Any:
    """A field of a case: a fraction where it is a number, so that terms may name its numerator."""
    try:
        return Fraction(str(int(value) if isinstance(value, bool) else value))
    except ValueError:
        return value


def link_file(claims: Iterable[Claim]) -> str:
    """The source of `Link.v`."""
    claims = list(claims)
    needs = sorted({name for claim in claims if claim.formal for name in claim.formal.files})
    left, right = "Z.of_N (fst (fraction a)) * Zpos (Qden b)", "Qnum b * Z.of_N (snd (fraction a))"
    lines = [
        "(* Made of the claims by depthlaw.theory.formal.prove: right sides at every case. *)",
        "From Coq Require Import Bool NArith ZArith QArith.",
        *(f"From Depthlaw Require {name}." for name in needs),
        "(* Else an error takes minutes to write long numbers in base 10. *)",
        "Unset Printing Notations. Set Printing Raw Literals.",
        "#[global] Coercion is_true : bool >-> Sortclass.",
        "Ltac compared := vm_cast_no_check (eq_refl true).  (* Computed once, at Qed. *)",
        "Class Same (A B : Type) := same : A -> B -> bool.",
        "#[global] Instance same_z : Same N Z := fun a b => (Z.of_N a =? b)%Z.",
        "(* A pair is a fraction. *)",
        "#[global] Instance same_pair : Same (N * N) Q := fun a b => negb (snd a =? 0)%N &&",
        "  (Z.of_N (fst a) * Zpos (Qden b) =? Qnum b * Z.of_N (snd a))%Z.",
        "#[global] Instance same_whole : Same (N * N) Z := fun a b => negb (snd a =? 0)%N &&",
        "  (Z.of_N (fst a) =? b * Z.of_N (snd a))%Z.",
        "(* A pair of these is the two ends of an interval. *)",
        "#[global] Instance same_ends : Same ((N * N) * (N * N)) (Q * Q) := fun a b =>",
        "  same (fst a) (fst b) && same (snd a) (snd b).",
        "Class Fraction (A : Type) := fraction : A -> N * N.",
        "#[global] Instance fraction_whole : Fraction N := fun a => (a, 1%N).",
        "#[global] Instance fraction_itself : Fraction (N * N) := fun a => a.",
        *(
            f"Definition {name} {{A}} {{_ : Fraction A}} (a : A) (b : Q) :=\n"
            f"  negb (snd (fraction a) =? 0)%N && ({sentence})%Z."
            for name, sentence in (
                ("above", f"{right} <? {left}"),
                ("below", f"{left} <? {right}"),
                ("differs", f"negb ({left} =? {right})"),
            )
        ),
    ]
    for claim in claims:
        lines.append(f"(* {claim.key} *)")
        sentences = list(comparisons(claim))
        if not sentences:
            raise UsageError(f"{claim.key} has no case in scope to compare its theorem with")
        lines += [f"Goal {sentence}. Proof. compared. Qed." for sentence in sentences]
    return "\n".join([*lines, ""])


def compile_files(
    folder: Path, names: Iterable[str], again: Iterable[str] = ()
) -> tuple[dict[str, float], dict[str, float]]:
    """Compile files of `HERE` in a folder, each after those that it builds on, and let the second
    checker check some of them again: the seconds of both by name. There is a process for each core.

    Raises:
        NotAcceptedError, UsageError: for the first file in the order of `names` that fails.
    """
    compiled, checked = dict[str, Future[float]](), dict[str, Future[float]]()

    def compile_file(name: str) -> float:
        # A thread that waits holds up none that is waited for: those have been submitted before.
        for other in needed(name):
            if other != name and other in compiled:
                compiled[other].result()
        return coqc(folder, name)

    def check(name: str) -> float:
        compiled[name].result()
        return coqchk(folder, name)

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for name in names:
            shutil.copy(HERE / f"{name}.v", folder)
            compiled[name] = pool.submit(compile_file, name)
        for name in again:
            checked[name] = pool.submit(check, name)
        try:
            seconds = {name: future.result() for name, future in compiled.items()}
            return seconds, {name: future.result() for name, future in checked.items()}
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def coqc(folder: Path, name: str) -> float:
    """Compile a file of a folder, or raise NotAcceptedError: the seconds it took."""
    command = [tool("coqc"), "-q", "-w", "none", "-Q", ".", LIBRARY, f"{name}.v"]
    return _run(folder, command, f"{name}.v is not accepted")[1]


def coqchk(folder: Path, name: str) -> float:
    """Let the second checker check a compiled file again: the seconds it took.

    Raises:
        NotAcceptedError: for a file that it refuses.
        UsageError: for one that takes anything on trust.
    """
    command = [tool("coqchk"), "-o", "-silent", "-norec", f"{LIBRARY}.{name}", "-Q", ".", LIBRARY]
    printed, seconds = _run(folder, command, f"coqchk does not accept {name}.v")
    report(name, printed)
    return seconds


def _run(folder: Path, command: list[str], refusal: str) -> tuple[str, float]:
    """What a command prints, and the seconds it takes; an error where it fails."""
    began, pipe = time.monotonic(), subprocess.PIPE
    done = subprocess.run(
        command, cwd=folder, stdout=pipe, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise NotAcceptedError(f"{refusal}: {' '.join(done.stdout.split())}")
    return done.stdout, time.monotonic() - began


def report(name: str, printed: str) -> None:
    """Read what coqchk reports of a file.

    Raises:
        UsageError: where it names anything taken on trust, or says what is not known here.
    """
    head, *parts = re.split(r"^\* ", printed, flags=re.M)
    said = [(title, " ".join(rest.split())) for title, _, rest in (p.partition(":") for p in parts)]
    if head.split() != ["CONTEXT", "SUMMARY", "=" * 15] or [title for title, _ in said] != [
        title for title, _ in _REPORT
    ]:
        raise UsageError(f"coqchk does not report on {name}.v as it should, but: {printed[:80]!r}")
    for (title, found), (_, right) in zip(said, _REPORT, strict=True):
        own = [axiom for axiom in found.split() if axiom.startswith(f"{LIBRARY}.")]
        if (right and found != right) or own:
            raise UsageError(f"coqchk on {name}.v: {title}: {' '.join(own) or found}")


def asked_of(folder: Path, names: list[str]) -> dict[str, Any]:
    """The statements of theorems as the prover prints them, and what they assume."""
    files: dict[str, list[str]] = {}
    for name in names:
        files.setdefault(name.partition(".")[0], []).append(name)
    # Asking costs a walk through all that a theorem rests on: so all theorems of a file at once,
    # and one by one where these assume something.
    lines = [f"From Depthlaw Require {' '.join(sorted(files))}."]
    lines += [f'Redirect "says{i}" Check @{name}.' for i, name in enumerate(names)]
    for file, some in files.items():
        lines += [
            f"Definition all_{file} := ({', '.join(f'@{name}' for name in some)}, tt).",
            f'Redirect "all{file}" Print Assumptions all_{file}.',
        ]
    _answers(folder, "Ask", lines)
    assumed = {file: assumptions(_read(folder, f"all{file}")) for file in files}
    alone = [name for name in names if assumed[name.partition(".")[0]]]
    lines = [f"From Depthlaw Require {' '.join(sorted(files))}."]
    lines += [f'Redirect "assumes{i}" Print Assumptions {name}.' for i, name in enumerate(alone)]
    _answers(folder, "AskAlone", lines)
    each = {name: assumptions(_read(folder, f"assumes{i}")) for i, name in enumerate(alone)}
    return {
        name: {
            "assumes": each.get(name, []),
            "statement": " ".join(_read(folder, f"says{i}").split()).partition(" : ")[2],
        }
        for i, name in enumerate(names)
    }


def _answers(folder: Path, name: str, lines: list[str]) -> None:
    """What the prover says to lines, in files beside them."""
    (folder / f"{name}.v").write_text("Set Printing Width 1000.\n" + "\n".join(lines) + "\n")
    coqc(folder, name)


def _read(folder: Path, name: str) -> str:
    return (folder / f"{name}.out").read_text(encoding="utf-8")


def assumptions(printed: str) -> list[str]:
    """The axioms that `Print Assumptions` lists.

    Raises:
        UsageError: where it says anything else, such as that a function is assumed to end.
    """
    if printed.strip() == CLOSED:
        return []
    head, *lines = printed.rstrip().splitlines() or [""]
    named = [re.match(r"([\w.']+)(?: :|$)", line) for line in lines if not line.startswith(" ")]
    if head != "Axioms:" or not named:
        raise UsageError(f"the prover does not say what a theorem assumes, but: {printed[:80]!r}")
    other = [line for line in lines if not re.match(r" |[\w.']+(?: :|$)", line)]
    if other:
        raise UsageError(f"more than axioms is assumed: {'; '.join(other)}")
    return [match[1] for match in named if match]


def prove() -> dict[str, Any]:
    """Compile everything, and say of each theorem its statement and what it assumes.

    Raises:
        UsageError: for a file that the prover does not accept.
    """
    found: dict[str, Any] = {"theorems": {}, "computed": {}, "claims": {}, "versions": versions()}
    names, claims = project(), linked()
    for name in names:
        if words := gaps(name):
            raise UsageError(
                f"{name}.v takes on trust what a proof must show: {', '.join(sorted(set(words)))}"
            )
    if (HERE / "Exact.v").read_text(encoding="utf-8") != exact_file():
        raise UsageError("Exact.v is not what theory.formal.exact_rank makes of its certificate")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        found["checked again"] = [name for name in names if name not in COMPUTED]
        seconds, again = compile_files(folder, names, found["checked again"])
        for name in names:
            second = f"{again[name]:.1f} s" if name in again else "not run"
            sys.stderr.write(
                f"{name}.v: {len(theorems(name))} theorems, {seconds[name]:.1f} s, "
                f"coqchk {second}\n"
            )
        found["theorems"] = asked_of(
            folder, [f"{name}.{theorem}" for name in names for theorem in theorems(name)]
        )
        for name, parts in rests_on(folder, found["theorems"]).items():
            found["theorems"][name] |= parts
        heads = sorted(
            {c.formal.head for c in claims.values() if c.formal and "." in c.formal.head}
        )
        found["computed"] = asked_of(folder, [f"{head}E" for head in heads])
        link = link_file(claims.values())
        (folder / "Link.v").write_text(link, encoding="utf-8")
        linking = coqc(folder, "Link")
    for key, claim in claims.items():
        assert claim.formal is not None
        if claim.formal.theorem not in found["theorems"]:
            raise UsageError(f"{key} names {claim.formal.theorem}, which is no theorem")
        found["claims"][key] = asked(claim)
    found["link"] = hashlib.sha256(link.encode()).hexdigest()
    sys.stderr.write(
        f"Link.v: {link.count('Goal ')} comparisons with {len(claims)} claims, {linking:.1f} s\n"
    )
    return found


def main(arguments: list[str] | None = None) -> int:
    """Prove, print the table, and compare with what is recorded or write it."""
    parser = argparse.ArgumentParser(
        prog="python -m depthlaw.theory.formal.prove",
        description="Check every proof with the kernel of the Rocq prover.",
    )
    parser.add_argument("--write", action="store_true", help="record what was checked")
    parser.add_argument("--prover", action="store_true", help="say which prover this is, no more")
    options = parser.parse_args(arguments)
    recorded = checked()
    try:
        usable_prover()
        if options.prover:
            sys.stdout.write(f"Coq {prover()}: {tool('coqc')}\n")
            return 0
        found = prove()
    except UsageError as error:
        refused = isinstance(error, NotAcceptedError) and not options.write
        other = refused and other_versions(recorded.get("versions", {}), versions())
        sys.stderr.write(f"error: {f'checked.json was {other}' if other else error}\n")
        return 2
    other = other_versions(recorded.get("versions", {}), found["versions"])
    for name, entry in found["theorems"].items():
        backs = [key for key, claim in found["claims"].items() if claim["theorem"] == name]
        words = [", ".join(entry["assumes"]) or "nothing assumed", *backs]
        sys.stdout.write(f"{name}: {'; '.join(words)}\n")
    entries = [*found["theorems"].values(), *found["computed"].values()]
    foreign = {name for entry in entries for name in entry["assumes"]} - set(REALS)
    if foreign:
        sys.stderr.write(
            f"error: axioms other than those of the reals: {', '.join(sorted(foreign))}\n"
        )
        return 2
    if options.write:
        text = json.dumps(found, indent=1, sort_keys=True) + "\n"
        RECORD.write_text(text, encoding="utf-8")
    elif recorded | {"versions": found["versions"]} != found:
        sys.stderr.write(
            f"error: this is not what checked.json records{f', which was {other}' if other else ''}"
            "; if the proofs are as they should be, "
            "run `python -m depthlaw.theory.formal.prove --write`\n"
        )
        return 2
    elif other:
        sys.stdout.write(f"checked.json was {other}: it says the same\n")
    sys.stdout.write(
        f"{len(found['theorems'])} theorems, {len(found['claims'])} claims, no gaps; the kernel "
        "checked all of them\n"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
