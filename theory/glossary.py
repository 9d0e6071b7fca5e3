"""One glossary for the whole project: a symbol's name in code and in cases, how papers print it, and what it means.

Every symbol of every claim's statement comes from `symbol(name)`, so a statement cannot use a quantity that is not defined here.
"""
from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sympy


class Term(NamedTuple):
    """How papers print a quantity (LaTeX), what it means, and the domain SymPy may assume."""

    latex: str
    meaning: str
    domain: str = "positive integer"


GLOSSARY: dict[str, Term] = {
    # the shape of a network
    "width": Term("d_x", "width: the dimension of the representation of one token"),
    "depth": Term("L", "depth: the number of layers"),
    "heads": Term("H", "attention heads per layer"),
    "head_width": Term("d_a", "width of one head, d_x / H"),
    "tokens": Term("N", "number of tokens (positions) in the input"),
    # separation rank
    "sep": Term(r"\operatorname{sep}", "separation rank of one output coordinate with respect to a balanced partition of the tokens"),
    "degree": Term(r"\deg", "total degree of an output coordinate as a polynomial in the tokens"),
    "moments_degree": Term(r"\deg_M", "degree of an output coordinate as a polynomial in the second moments of the tokens, C(L)"),
    "threshold": Term(r"L_{th}(d_x)", "threshold depth: the depth at which the degree 3^L equals the width", "nonnegative real"),
    "order": Term("k", "degree in the moments of one side, or order of a derivative: an index of summation", "nonnegative integer"),
    # depth for a parameter budget
    "parameters": Term(r"N_{par}", "parameters without embeddings, 12 L d_x^2"),
    "threshold_depth": Term(r"L_{th}", "least real depth of a net of N_par parameters with L >= log_3(d_x)", "positive real"),
    "threshold_parameters": Term(r"N_{th}", "parameters of the widest net of depth L with L >= log_3(d_x)"),
    "transition_width": Term(r"d_{tr}", "width from which depth L pays at equal size in Levine's fit, to the nearest integer"),
    "transition_depth": Term(r"L_{tr}", "depth whose transition size in Levine's fit is N_par", "positive real"),
    "transition_variance": Term(r"v_{tr}", "squared relative standard error of the transition size in Levine's fit", "positive real"),
    "projected_depth": Term(r"L_{opt}", "projected optimal depth of a trained model, to the nearest integer"),
    # rank collapse
    "qk_width": Term("d_{qk}", "query/key width of one head"),
    "qk_norm": Term(r"\|W_{QK}\|_1", "largest column sum of |W_Q W_K^T|, the same for every head", "positive real"),
    "value_norm": Term(r"\|W_V\|_{1,\infty}", "composite norm of the value matrix of a head", "positive real"),
    "beta": Term(r"\beta", "bound on |W_QK|_1 |W_V|_(1,inf) over all heads and layers", "positive real"),
    "gamma": Term(r"\gamma", "bound on sqrt(|D1|_1 |D1|_inf) / (2 |E|_1) over all heads and layers", "positive real"),
    "residual": Term("r_0", "composite norm of the input tokens minus their centre", "positive real"),
    "residual_next": Term("r_1", "composite norm of the tokens minus their centre after one layer", "positive real"),
    "residual_per_gamma": Term(r"r_1/\gamma", "composite norm of the residual after one layer, divided by gamma", "positive real"),
    "residual_end": Term("r_L", "composite norm of the tokens minus their centre after L layers", "positive real"),
    "residual_scaled": Term(r"\hat r_L", "r_L divided by the product over layers l of k_l^(3^(L-l)), k_l the head sum of layer l", "positive real"),
    "cubic_coefficient": Term("c", "coefficient of the cubic recurrence r_(l+1) = c r_l^3", "positive real"),
    "cubic_slope": Term(r"\partial\log r_1/\partial\log r_0", "slope of log r_1 against log r_0 when the input residual is halved", "positive real"),
    "softmax_excess": Term(r"\varepsilon_+", "largest (P_ij / Q_ij - 1) / D_ii over entries, P and Q two attention matrices", "positive real"),
    "softmax_shortfall": Term(r"\varepsilon_-", "largest (1 - P_ij / Q_ij) / D_ii over entries, P and Q two attention matrices", "positive real"),
    "softmax_root": Term("x^*", "the positive root of exp(x) = 1 + 2x", "positive real"),
    "relative_residual": Term(r"\rho_l", "composite norm of the hidden states minus their token mean, divided by that of the states", "positive real"),
    "layer": Term("l", "layer after which a quantity is read; 0 is the embedding", "nonnegative integer"),
    # connectivity
    "diameter": Term("D", "largest distance between two vertices of one component of a graph"),
    "vertices": Term("n", "number of vertices of a graph"),
    "max_degree": Term(r"\Delta", "largest degree of a graph"),
    "reached_distance": Term("r_+", "largest distance of two vertices with a positive output entry; n for different components",
                             "nonnegative integer"),
    "covered_distance": Term("r_-", "largest distance up to which every two vertices have a positive output entry", "nonnegative integer"),
    "largest_entry": Term(r"x_{max}", "largest entry of the output"),
    "minimal_depth": Term(r"L_{min}", "first layer after which every connected pair of vertices has a positive entry", "nonnegative integer"),
    "components_depth": Term(r"L_{cc}", "first layer after which every vertex knows its component", "nonnegative integer"),
    "cycle_length": Term("m", "largest m for which one 2m-cycle is told from two m-cycles"),
    "doubling_layers": Term(r"L_{dbl}", "layers spent on doubling the distance until every reachable pair is known", "nonnegative integer"),
    "vertices_max": Term(r"n_{max}", "largest number of vertices that a statement allows at depth L"),
    # hops
    "hops": Term("k", "number of hops"),
    "hops_first": Term("a", "number of hops taken first", "nonnegative integer"),
    "hops_then": Term("b", "number of hops taken next", "nonnegative integer"),
    "hops_max": Term(r"k_{max}", "largest k for which a statement gives hop_k at depth L"),
    "computed_hops": Term("h", "number of hops that was really computed; -1 when it is none", "integer"),
    "layers_used": Term(r"L_{used}", "first layer from which on every token of an executed network is right; -1 when none is", "integer"),
    "layers_needed": Term(r"L^*", "least depth of a masked transformer with one head of fixed width that computes hop_k",
                          "nonnegative integer"),
    "wrong_tokens": Term(r"n_{\mathrm{wrong}}", "tokens on which an executed network differs from hop_k", "nonnegative integer"),
    # counting parameters, operations and memory
    "total_parameters": Term(r"N_{tot}", "all parameters of a net: weights, biases, norms, positions, embeddings and read-out"),
    "weights": Term("N_W", "entries of the weight matrices inside layers: no embeddings, positions, norms or biases"),
    "active_parameters": Term(r"N_{act}", "parameters that one token passes through in a mixture of experts"),
    "vocabulary": Term("V", "number of tokens in the vocabulary"),
    "positions": Term(r"n_{ctx}", "number of learned position embeddings"),
    "attention_width": Term(r"d_{attn}", "width of all query heads together"),
    "kv_width": Term(r"d_{kv}", "width of all key heads together, which is that of all value heads"),
    "ff_width": Term(r"d_{ff}", "inner width of the feed-forward network"),
    "mlp_matrices": Term("m_{ff}", "weight matrices of the feed-forward network: 2, or 3 when it is gated"),
    "experts": Term("E", "feed-forward networks per layer"),
    "experts_active": Term("k_E", "feed-forward networks per layer that a token passes through"),
    "relative_error": Term(r"\delta", "relative distance of an approximate count from the exact one", "nonnegative real"),
    "rounding_gap": Term("u", "distance of a printed number from the exact one, in units of its last printed digit", "nonnegative real"),
    "size_millions": Term(r"N_{10^6}", "parameters in millions"),
    "growth": Term("g", "factor by which a larger net exceeds a smaller one", "positive real"),
    "multiply_adds": Term(r"\#_{mac}", "multiplications, each followed by an addition, of one pass"),
    "operations": Term(r"\#_{op}", "floating-point operations; a multiplication and an addition are two", "nonnegative integer"),
    "attention_ratio": Term(r"\rho_{att}", "operations of attention scores and averages over those with weights", "positive real"),
    "batch": Term("b", "number of sequences"),
    "activation_bytes": Term(r"M_{act}", "bytes kept from the forward for the backward pass"),
    "stored_values": Term(r"\#_{val}", "numbers kept for the backward pass, and their gradients"),
}

_DOMAINS = {
    "positive integer": {"integer": True, "positive": True},
    "nonnegative integer": {"integer": True, "nonnegative": True},
    "integer": {"integer": True},
    "positive real": {"positive": True},
    "nonnegative real": {"nonnegative": True},
    "real": {"real": True},
}


@cache
def symbol(name: str) -> sympy.Symbol:
    """The SymPy symbol of a glossary entry, with the assumptions of its domain.

    Raises:
        KeyError: when the glossary has no such entry.

    >>> symbol("width").is_positive
    True
    """
    import sympy

    return sympy.Symbol(name, **_DOMAINS[GLOSSARY[name].domain])


def latex(expression: sympy.Basic) -> str:
    """LaTeX of an expression or relation, in the papers' notation.

    >>> latex(symbol("width") ** 2)
    'd_x^{2}'
    """
    import sympy

    names = {s: GLOSSARY[s.name].latex for s in expression.atoms(sympy.Symbol) if s.name in GLOSSARY}
    # log(x)/log(3) is how SymPy stores a logarithm to base 3; papers print it as one symbol.
    text = sympy.latex(_based_logarithms(expression), symbol_names=names)
    return text.replace(r"\operatorname{log}_{3}", r"\log_{3}")


def plain(expression: sympy.Basic) -> str:
    """One line of text for a terminal, in the papers' notation.

    >>> plain(symbol("width") ** symbol("depth"))
    'd_x^L'
    """
    import re

    import sympy

    names = {s: sympy.Symbol(re.sub(r"\\(operatorname|mathrm|text)|[\\{}]", "", GLOSSARY[s.name].latex))
             for s in expression.atoms(sympy.Symbol) if s.name in GLOSSARY}
    based = _based_logarithms(expression)
    return str(sympy.sstr(based.xreplace(names), order="none")).replace("**", "^")


def _based_logarithms(expression: sympy.Basic) -> sympy.Basic:
    """Write log(x)/log(3) as log_3(x), for printing only."""
    import sympy

    log_3 = sympy.Function("log_3")

    def fold(product: sympy.Mul) -> sympy.Expr:
        if 1 / sympy.log(3) not in product.args:
            return product
        factors = [f for f in product.args if f != 1 / sympy.log(3)]
        for place, factor in enumerate(factors):
            if isinstance(factor, sympy.log):
                factors[place] = log_3(factor.args[0])
                return sympy.Mul(*factors, evaluate=False)
        return product

    return expression.replace(lambda e: isinstance(e, sympy.Mul), fold)
