"""Stored certificates, checked again exactly from the file alone.

A certificate is a JSON object whose `kind` names the argument that it feeds: `recheck` returns its
steps, and `finding` what a certificate that stands has established.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, NoReturn

import flint
from flint import arb, fmpz, fmpz_mat

from ..claims.values import Step
from .second_net import Form, PlainNet, leading_exponents, read_net, whole, whole_list

# What a check raises at a field that holds something else than it should.
_WRONG_FORM = (
    KeyError,
    TypeError,
    IndexError,
    OverflowError,
    AttributeError,
    RecursionError,
    MemoryError,
)

# No certificate of ours is larger; reading stops here.
MOST_BYTES = 16 * 2**20

_PRODUCT = "separation_rank/product_of_forms"
_LEADING = "separation_rank/leading_monomial"
_SHIFTS = "separation_rank/monomial_of_shifts"
_RANKS = "separation_rank/graded_ranks"
_EXCEEDS = (
    "log_3 prod (e + 1) > 2 d L + L - 2 d log_3(d / (2 sqrt(2) e)) + log_3 d, in rigorous balls"
)


@dataclass(frozen=True)
class Finding:
    """What a certificate has established, and whether the code that checked it did not measure."""

    says: str
    independent: str


@dataclass(frozen=True)
class CertificateKind:
    """A kind of certificate: its claim, fields and sentence, and how it is checked."""

    claim: str
    fields: tuple[str, ...]
    sentence: Callable[[Mapping[str, Any]], str]
    steps: Callable[[Mapping[str, Any]], Iterator[Step]]
    finding: Callable[[Mapping[str, Any]], Finding]


def recheck(data: Mapping[str, Any]) -> tuple[Step, ...]:
    """The steps of a certificate's argument, in exact arithmetic; it stands when all of them hold.

    Raises:
        ValueError: when the kind is unknown, or a field is missing, unknown or of the wrong form.

    >>> {step.holds for step in recheck(load(shipped()["separation_rank-upper_bound_deep.json"]))}
    {True}
    """
    name = data.get("kind") if isinstance(data, Mapping) else None
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        known = ", ".join(sorted(KINDS))
        raise ValueError(f"certificate kind {ascii(name)[:40]} is not known; accepted are {known}")
    wanted = {"kind", "claim", "says", *kind.fields}
    if set(data) != wanted:
        wrong = ", ".join(sorted(ascii(field)[:40] for field in wanted ^ set(data))[:4])
        raise ValueError(
            f"not a certificate of kind {name}: fields missing or unknown: {wrong}; "
            "restore the file"
        )
    try:
        steps = tuple(kind.steps(data))
        fits = Step(
            f"the claim is {kind.claim}, and what the certificate says is what its kind "
            "says for these numbers",
            data["claim"] == kind.claim and data["says"] == kind.sentence(data),
        )
    except _WRONG_FORM as error:
        raise ValueError(
            f"not a certificate of kind {name}: {type(error).__name__} at "
            f"{str(error)[:80]}; restore the file"
        ) from None
    return (*steps, fits)


def finding(data: Mapping[str, Any]) -> Finding:
    """What a certificate that `recheck` has confirmed establishes.

    >>> finding(load(shipped()["separation_rank-upper_bound_deep.json"])).says
    'd=4, L=34, H=2, N=10: log_3 sep >= 312.276 > 312.020; refutes Theorem 2 as recalled'
    """
    return KINDS[data["kind"]].finding(data)


def load(path: Path) -> dict[str, Any]:
    """Read a certificate file.

    Raises:
        ValueError: for what is no JSON object with finite numbers, no regular file, or too large.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ValueError(f"{path} is no regular file; give the file of a certificate")
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise ValueError(
                f"{path} is larger than any certificate ({MOST_BYTES // 2**20} MB); "
                "give the file of a certificate"
            )
        data = _parsed(text)
    except OSError as error:
        raise ValueError(
            f"{path} cannot be read as a certificate: {error.strerror}; expected is a JSON object"
        ) from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise ValueError(
            f"{path} cannot be read as a certificate; expected is a JSON object"
        ) from None
    except MemoryError:
        raise ValueError(f"{path} does not fit into memory; expected is a certificate") from None
    if not isinstance(data, dict):
        raise ValueError(
            f"{path} holds a {type(data).__name__}; expected is a JSON object with a field 'kind'"
        )
    return data


def _parsed(text: bytes) -> Any:
    def refuse(constant: str) -> NoReturn:
        raise json.JSONDecodeError(f"{constant} is no JSON number", "", 0)

    def integer(digits: str) -> int:
        # Python refuses more than 4300 digits with a longer message.
        return int(digits) if len(digits) <= 1000 else refuse("a number of more than 1000 digits")

    return json.loads(text.decode("utf-8"), parse_constant=refuse, parse_int=integer)


def shipped() -> dict[str, Path]:
    """The counterexamples that come with the package, by file name."""
    folder = Path(str(files(__package__) / "counterexamples"))
    return {path.name: path for path in sorted(folder.glob("*.json"))}


# --- lower bounds against the upper bound of Theorem 2 as recalled --------------------------------


def _violation_sentence(data: Mapping[str, Any]) -> str:
    d, L, H = data["width"], data["depth"], data["heads"]
    return (
        f"For d_x = {d}, L = {L}, H = {H}, N >= {2 * d + 2} tokens and almost all weights the "
        "separation rank is at least prod (exponent + 1), which exceeds 2 d_x L + L - 2 d_x "
        "log_3(d_x / (2 sqrt(2) e)) + log_3 d_x, the upper bound of Theorem 2 as recalled."
    )


def _shape(data: Mapping[str, Any]) -> tuple[int, int, int, int]:
    """d, L, H, N; weights that are too large to be looked at are refused by the file's size."""
    return (
        whole(data, "width", 1, 126),
        whole(data, "depth", 1, 4000),
        whole(data, "heads", 1, 126),
        whole(data, "tokens", 2, 10**6),
    )


def _domain(d: int, depth: int, tokens: int) -> Step:
    return Step(
        f"L = {depth} > log_3 {d}, and N = {tokens} is even and at least 2 (d + 1)",
        3**depth > d and tokens % 2 == 0 and tokens >= 2 * d + 2,
    )


def _recheck_product(data: Mapping[str, Any]) -> Iterator[Step]:
    d, depth, heads, tokens = _shape(data)
    net, exponents = read_net(data["weights"], d, depth, heads), whole_list(data, "exponents")
    stored = _stored_forms(data["forms"], d)
    yield _domain(d, depth, tokens)
    yield Step("the forms stored are linearly independent over Q", _independent(data["forms"]))
    layer_forms = [_one_form(entries) for entries in net.layer_forms()]
    kept = layer_forms[0][1] if layer_forms[0] else frozenset()
    multiplies = 0 in kept and all(
        item is not None and item[1] == kept and all(a in kept and b in kept for a, b in item[0])
        for item in layer_forms
    )
    forms = [item[0] for item in layer_forms if item]
    known = multiplies and all(f in stored for f in forms) and all(f in forms for f in stored)
    yield Step(
        "every layer is T_l(M) = f_l(M) P for all M, P the projection on some coordinates, "
        "f_l one of the forms stored, in their moments",
        known,
    )
    # With M_l = c_l P M P: T_l multiplies by c_l f_l, so c_{l+1} = c_l^3 f_l^2, and f_l has the
    # exponent 1 + 2 + 2 3 + ... = 3^(L-l).
    right = known and exponents == [
        sum(3 ** (depth - 1 - layer) for layer, form in enumerate(forms) if form == other)
        for other in stored
    ]
    yield Step("y_p = x_p prod f^e with the exponents stored: layer l contributes 3^(L-l)", right)
    yield Step(
        "the recursion over tokens gives this product at four inputs modulo a prime",
        right and net.products_give_outputs(stored, exponents, 4),
    )
    yield Step(_EXCEEDS, right and _exceeds(d, depth, exponents))


def _stored_forms(forms: Any, d: int) -> list[Form]:
    pairs = [(a, b) for a in range(d) for b in range(a, d)]
    if not isinstance(forms, list) or not all(
        isinstance(form, list) and len(form) == len(pairs) and all(type(c) is int for c in form)
        for form in forms
    ):
        raise ValueError(f"forms must be lists of {len(pairs)} whole numbers")
    return [{pair: c for pair, c in zip(pairs, form, strict=True) if c} for form in forms]


def _one_form(entries: Mapping[tuple[int, int], Form]) -> tuple[Form, frozenset[int]] | None:
    """(f, kept) where the entries are those of f(M) times the projection on coordinates kept."""
    if not entries or any(p != a for p, a in entries):
        return None
    form = next(iter(entries.values()))
    same = all(other == form for other in entries.values())
    return (form, frozenset(p for p, _ in entries)) if same else None


def _independent(forms: list[list[int]]) -> bool:
    return bool(forms) and int(fmpz_mat(forms).rank()) == len(forms)


def _recheck_leading(data: Mapping[str, Any]) -> Iterator[Step]:
    d, depth, heads, tokens = _shape(data)
    net = read_net(data["weights"], d, depth, heads)
    exponents, grading = whole_list(data, "exponents"), whole_list(data, "grading")
    column = whole(data, "column", 0, d - 1)
    sizes = {len(grading), len(exponents)}
    if sizes != {d * (d + 1) // 2} or max(map(abs, grading)) > 10**9:
        raise ValueError(
            f"grading and exponents must be {d * (d + 1) // 2} whole numbers, those "
            "of the grading at most 10^9 in size"
        )
    yield _domain(d, depth, tokens)
    yield Step(
        "no weight is negative, so no terms cancel",
        all(int(array.min()) >= 0 for array in net.weights.values()),
    )
    yield Step(
        "the recursion over tokens gives e_1^T T_L(M_L) ... T_1(M_1) x at four inputs "
        "modulo a prime",
        net.moments_give_outputs(4),
    )
    yield Step(
        "one monomial of P_a has the largest weight, and its exponents are those stored: "
        "max-plus products",
        _leads(net, grading, column, exponents),
    )
    yield Step(_EXCEEDS, min(exponents) >= 0 and _exceeds(d, depth, exponents))


def _leads(net: PlainNet, grading: list[int], column: int, exponents: list[int]) -> bool:
    try:
        return leading_exponents(net, grading, column) == exponents
    except ValueError:
        return False


def _exceeds(d: int, depth: int, exponents: list[int]) -> bool:
    with flint.ctx.workprec(192):
        rank, bound = _sides(d, depth, exponents)
        return bool(rank > bound)


def _sides(d: int, depth: int, exponents: list[int]) -> tuple[Any, Any]:
    """log_3 prod (e + 1), and the upper bound of Theorem 2 as recalled, as balls."""
    log3 = arb(3).log()
    rank = sum((arb(fmpz(e + 1)).log() for e in exponents), arb(0)) / log3
    constant = (arb(d) / (2 * arb(2).sqrt() * arb(1).exp())).log() / log3
    return rank, 2 * d * depth + depth - 2 * d * constant + arb(d).log() / log3


def _recheck_shifts(data: Mapping[str, Any]) -> Iterator[Step]:
    d, depth = whole(data, "width", 1, 2 * 10**4), whole(data, "depth", 1, 200)
    heads, tokens = whole(data, "heads", 1, 1000), whole(data, "tokens", 2, 10**6)
    blocks = max(1, d // heads)
    shifts = _triples(data["shifts"], heads, blocks)
    yield _domain(d, depth, tokens)
    yield Step(
        "heads of width d / H, as many blocks of H coordinates, and shifts for every layer",
        heads * blocks == d and len(shifts) == depth,
    )
    moments = _shifted_exponents(shifts, heads, blocks)
    yield Step("the exponents add up to (3^L - 1)/2", sum(moments.values()) == (3**depth - 1) // 2)
    yield Step(
        "the recursion over four tokens in each block gives x_p times the monomial modulo a prime",
        _shifts_give_output(shifts, heads, blocks, moments),
    )
    exponents = list(moments.values())
    yield Step(_EXCEEDS, _exceeds(d, depth, exponents))
    yield Step(
        "so it does at every greater depth: prod (3 e + 1)/(e + 1) >= 3^(2 d + 1)",
        _grows(d, exponents),
    )


def _triples(shifts: Any, heads: int, blocks: int) -> list[tuple[int, int, int]]:
    ends = (heads, heads, blocks)
    if not isinstance(shifts, list) or not all(
        isinstance(layer, list)
        and len(layer) == 3
        and all(type(n) is int and 0 <= n < end for n, end in zip(layer, ends, strict=True))
        for layer in shifts
    ):
        raise ValueError(
            f"shifts must be triples of whole numbers, two from 0 to {heads - 1} and one from 0 to "
            f"{blocks - 1}"
        )
    return [(s, r, t) for s, r, t in shifts]


def _shifted_exponents(
    shifts: list[tuple[int, int, int]], heads: int, blocks: int
) -> dict[tuple[int, int, int], int]:
    """Of every moment in x_p prod M^e: a factor t_a for each time that coordinate a occurs."""
    moments: dict[tuple[int, int, int], int] = {}
    occurs = {(0, 0): 1}
    for s, r, t in reversed(shifts):
        before = dict(occurs)
        for (a, k), times in occurs.items():
            block = (k + t) % blocks
            low, high = sorted(((a + s) % heads, (a + r) % heads))
            moments[block, low, high] = moments.get((block, low, high), 0) + times
            for b in (low, high):
                before[b, block] = before.get((b, block), 0) + times
        occurs = before
    return moments


def _shifts_give_output(
    shifts: list[tuple[int, int, int]],
    heads: int,
    blocks: int,
    moments: Mapping[tuple[int, int, int], int],
) -> bool:
    prime, each = 2**61 - 1, [(a, k) for a in range(heads) for k in range(blocks)]
    tokens = [
        {(a, k): (7**n * 11**a * 17**k + 13 * n + a + 19 * k) % prime for a, k in each}
        for n in range(4)
    ]
    right = tokens[0][0, 0]
    for (k, a, b), times in moments.items():
        right = right * pow(sum(x[a, k] * x[b, k] for x in tokens), times, prime) % prime
    for s, r, t in shifts:
        seen = {}
        for a, k in each:
            value, key = (((a + n) % heads, (k + t) % blocks) for n in (s, r))
            seen[a, k] = sum(x[value] * x[key] for x in tokens) % prime
        tokens = [{at: x[at] * seen[at] % prime for at in each} for x in tokens]
    return right == tokens[0][0, 0]


def _grows(d: int, exponents: list[int]) -> bool:
    """Whether a last layer with shifts 0 adds to log_3 of the product what a layer adds to the
    bound, 2 d + 1, or more: it triples every exponent, and (3 e + 1)/(e + 1) grows with e, so that
    further layers add no less."""
    with flint.ctx.workprec(192):
        more = sum((arb(fmpz(3 * e + 1)).log() - arb(fmpz(e + 1)).log() for e in exponents), arb(0))
        return bool(more >= (2 * d + 1) * arb(3).log())


def _violation(data: Mapping[str, Any]) -> Finding:
    d, L, H, N = (data[name] for name in ("width", "depth", "heads", "tokens"))
    exponents = data.get("exponents")
    if exponents is None:
        shifts = _triples(data["shifts"], H, d // H)
        exponents = list(_shifted_exponents(shifts, H, d // H).values())
    with flint.ctx.workprec(192):
        rank, bound = _sides(d, L, exponents)
        # The rank is rounded down, the bound to the nearest; that one exceeds the other is a step
        # of its own.
        low, near = int((rank * 1000).floor().unique_fmpz()), float(bound.mid())
    undefined = "; b_2 of its lower bound is undefined at H = d_x" if d == H else ""
    return Finding(
        f"d={d}, L={L}, H={H}, N={N}: log_3 sep >= {low / 1000:.3f} > {near:.3f}; "
        f"refutes Theorem 2 as recalled{undefined}",
        "yes",
    )


# --- ranks of graded pieces -----------------------------------------------------------------------


def _recheck_ranks(data: Mapping[str, Any]) -> Iterator[Step]:
    from ..separation_rank.rank_certificate import recheck_ranks

    return recheck_ranks(data)


def _ranks_sentence(data: Mapping[str, Any]) -> str:
    from ..separation_rank.rank_certificate import sentence

    return sentence(data)


def _ranks_finding(data: Mapping[str, Any]) -> Finding:
    from ..separation_rank.rank_certificate import established, independent

    return Finding(established(data), independent(data))


_NET = ("width", "depth", "heads", "tokens", "weights")

# Another kind of certificate needs one entry here.
KINDS: dict[str, CertificateKind] = {
    _PRODUCT: CertificateKind(
        "separation_rank/upper_bound_deep",
        (*_NET, "forms", "exponents"),
        _violation_sentence,
        _recheck_product,
        _violation,
    ),
    _LEADING: CertificateKind(
        "separation_rank/upper_bound_deep",
        (*_NET, "grading", "column", "exponents"),
        _violation_sentence,
        _recheck_leading,
        _violation,
    ),
    _SHIFTS: CertificateKind(
        "separation_rank/excess_at_ordinary_shapes",
        ("width", "depth", "heads", "tokens", "shifts"),
        _violation_sentence,
        _recheck_shifts,
        _violation,
    ),
    _RANKS: CertificateKind(
        "separation_rank/exact",
        ("width", "depth", "heads", "prime", "weights", "pieces", "rank"),
        _ranks_sentence,
        _recheck_ranks,
        _ranks_finding,
    ),
}
