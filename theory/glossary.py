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
    # bounds on the separation rank, and its dimension count
    "count": Term("S", "the dimension count S(d_x, L), an upper bound on the separation rank"),
    "knee": Term("L_{knee}", "first depth at which C(L)/2 is at least the number D of moments", "nonnegative integer"),
    "late_slope": Term(r"\Delta\log_3 S", "growth of log_3 S from depth L to L + 1, to the nearest integer", "nonnegative integer"),
    "multiset": Term(r"\left(\!\binom{n}{k}\!\right)", "multiset coefficient binom(n+k-1, k), n = (d_x-H)/2, k = 3^(L-2)", "positive real"),
    "exponent_count": Term("E", "d_x 3^L binom(2 d_x + 3^L - 1, 3^L): choices of the exponents of 2 d_x coordinates, as recalled"),
    "shallow_depth": Term("L'", "depth of the shallower of two nets"),
    "widened": Term("d'_x + H'", "least width plus heads with which the upper bound of depth L' reaches the lower bound of depth L"),
    "depth_ratio": Term(r"\delta", "depth of the deeper net divided by that of the shallower"),
    "width_factor": Term("w", "least width of the shallower net, as a multiple of the width of the deeper"),
    "beta_two": Term(r"\beta_2", "layers beyond log_3(d_x), and factor 3^beta_2 in width, of the shallower net", "nonnegative integer"),
    "threshold_tenths": Term(r"10\,L_{th}", "threshold depth in tenths of a layer, to the nearest integer", "nonnegative integer"),
    # witnesses and variants of the separation rank
    "prime": Term("p", "a prime"),
    "minor_size": Term("R", "rows and columns of a minor of the value matrix"),
    "minor_degree": Term(r"\deg\det", "degree in the weights of the determinant of R x R values of one output coordinate"),
    "zero_fraction": Term(r"\zeta", "share of the weights over F_p at which an R x R minor vanishes", "nonnegative real"),
    "rank_loss": Term(r"r_{\mathbb{Q}} - r_p", "rank of an integer value matrix over Q minus its rank modulo p", "integer"),
    "slope": Term("c", "an absolute constant in a supposed bound c d_x L", "positive real"),
    "first_violation": Term(r"L_\times", "first depth beyond the threshold at which a lower bound exceeds a recalled upper bound; 0 if none",
                            "nonnegative integer"),
    "conflict": Term(r"\chi", "1 if some depth contradicts the recalled upper bound, 0 if none does", "nonnegative integer"),
    "catalecticant": Term(r"\operatorname{rank}\,\mathrm{Cat}_k", "dimension of the span of the order-k derivatives of the d_x forms in the moments"),
    "rank_gap": Term(r"\Delta r", "rank of the value matrix minus the sum of the ranks of the catalecticants, at the same weights", "integer"),
    "rank_gain": Term(r"\Delta_{res}", "separation rank with residual connections minus without, at the same weights", "integer"),
    "parts": Term(r"\#_{deg}", "number of degrees that occur in an output coordinate as a polynomial in the tokens"),
    "path_defect": Term(r"\varepsilon_{path}", "output with residual connections minus the sum over the 2^L paths", "integer"),
    "input_rank": Term("r", "dimension of the space that holds the input tokens"),
    "cut": Term("s", "largest degree of the rows, in the moments that the first layer does not see, that a bound on a rank counts", "integer"),
    "index": Term("i", "an index of summation", "nonnegative integer"),
    "restricted": Term(r"r_k", "rank of the part of the output of degree 2k+1 in the tokens of the side that is read and 2(C-k) in the others"),
    "word_letters": Term("C", "letters M of a row a^T M s_1 M ... s_{C-1} M"),
    "shared_separators": Term("q", "different matrices, up to transposition, among the s_i at even places of such a row"),
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
    # rank collapse: norms, centres and layer normalisation
    "triangle_ratio": Term(r"\tau^2", "squared ratio of |A + A^T| to |A| + |A^T| in the composite norm, A = e_1 1^T", "positive real"),
    "product_ratio": Term(r"\pi^2", "squared ratio of |AB| to |A| |B| in the composite norm", "nonnegative real"),
    "centre_ratio": Term(r"\mu", "ratio of |X - 1 mean^T| to |X - 1 x^T| in the composite norm, x another centre", "nonnegative real"),
    "gamma_square": Term(r"\gamma^2", "|D1|_1 |D1|_inf / (4 |E|_1^2) of one logit matrix E, D_ii the range of its row i", "nonnegative real"),
    "range_sum_ratio": Term(r"\|D1\|_1/\|E\|_1", "sum of the row ranges of E over its largest column sum", "nonnegative real"),
    "range_ratio": Term(r"\|D1\|_\infty/(\|W\|_1\|R\|^2)", "largest row range of E = R W R^T over |W|_1 |R|_1 |R|_inf", "nonnegative real"),
    "affine_rank": Term("a", "dimension of the affine hull of the tokens", "nonnegative integer"),
    "affine_rank_after": Term("a'", "dimension of the affine hull of the tokens after layer normalisation", "nonnegative integer"),
    "centred_rank": Term("c", "rank of the tokens, each minus the mean of its features", "nonnegative integer"),
    "centred_rank_after": Term("c'", "rank of the tokens after layer normalisation", "nonnegative integer"),
    # rank collapse: one layer
    "logit_max": Term("M", "largest |E_ij|, E the part of the logits that differs between rows", "positive real"),
    "gamma_free_ratio": Term(r"\phi", "residual after one layer over |E|_1 |R| |W_V|", "positive real"),
    "gamma_free_digits": Term("m^*", "whole part of 10^10 M, M the largest size of logits for which 2 e^M (e^M - 1)/M <= 4"),
    "chain_ratio": Term(r"\chi", "residual after one layer over sqrt(|D1|_1 |D1|_inf) |R| |W_V|", "positive real"),
    "signed_ratio": Term(r"\varsigma", "largest |((P - Q) R)_ik| / (D_ii (Q |R|)_ik) over entries, P and Q two attention matrices",
                         "nonnegative real"),
    "signed_excess": Term(r"\varsigma_+", "largest (P R - (I + 2D) Q R)_ik over entries, P and Q two attention matrices", "real"),
    "head_sum_ratio": Term(r"\eta", "sum_h g_h a_h sum_h g'_h b_h over max_h(g_h g'_h) sum_h a_h sum_h b_h", "positive real"),
    "lipschitz": Term(r"\lambda", "Lipschitz constant of the MLP in the composite norm", "positive real"),
    "pair_digits": Term("p", "whole part of 10^12 times the first token after one layer, for two tokens rho and -rho", "nonnegative integer"),
    "pair_half": Term(r"\rho", "the first of two tokens rho and -rho of width one", "positive real"),
    "nonzero_gradients": Term(r"\#_{\nabla}", "non-zero derivatives of outputs in entries of W_Q and W_K", "nonnegative integer"),
    # rank collapse: paths through heads and skips
    "path_errors": Term(r"\#_{err}", "entries in which a sum over paths differs from the forward pass, or a row of P_path is no distribution",
                        "nonnegative integer"),
    "path_length": Term(r"\ell", "number of heads on a path; the other layers are skipped", "nonnegative integer"),
    "path_count": Term(r"\#_\ell", "paths of a given length through all layers", "nonnegative integer"),
    "path_share": Term(r"P(\ell)", "share of the paths that have a given length", "nonnegative real"),
    "path_mean": Term(r"\bar\ell", "mean length of all paths", "nonnegative real"),
    "path_mode": Term(r"\hat\ell", "largest of the most frequent path lengths", "nonnegative integer"),
    "rounded_figure": Term("f", "a figure of the text, rounded, in units of its last printed digit", "nonnegative integer"),
    "item": Term("i", "number of an entry in a list"),
    "residual_growth": Term("r_L/r_0", "composite norm of the residual after L layers over that before them", "nonnegative real"),
    # rank collapse: masks and positions
    "first_weight": Term("p", "attention of the first of two tokens to the first", "positive real"),
    "second_weight": Term("q", "attention of the second of two tokens to the first", "nonnegative real"),
    "difference": Term(r"\delta_0", "difference of two tokens", "positive real"),
    "difference_end": Term(r"\delta_L", "difference of two tokens after L layers", "positive real"),
    "token_bound": Term("B", "bound on the size of the tokens", "positive real"),
    "qk_weight": Term("w", "W_Q W_K^T of width one", "positive real"),
    "least_weight": Term(r"\epsilon", "least attention that a token pays to a token it may see", "positive real"),
    "position": Term("j", "position of a token, counted from 1"),
    "window": Term("w", "tokens that a token sees: itself and those just before it"),
    "radius": Term("r", "steps after which one token has reached all others through the mask"),
    "tail_mass": Term(r"P_{\geq j}", "largest total weight that a row of the product of attention matrices puts on positions j and later",
                      "nonnegative real"),
    "spread_ratio": Term(r"s_L/s_0", "largest minus least token after L layers over that before them, width one", "nonnegative real"),
    "feature_gain": Term(r"\eta", "entry below the diagonal of a value matrix with unit diagonal", "positive real"),
    "start_angles": Term("K", "equally spaced directions in which the second token starts"),
    "basin_count": Term("k", "directions from which two tokens stay different for ever", "nonnegative integer"),
    "limit_digits": Term("q", "whole part of 10^9 times the size of a limit", "nonnegative integer"),
    # rank collapse: clustering on the sphere
    "common_cosine": Term(r"\rho", "cosine of every two of a set of equiangular tokens", "real"),
    "cosine_rate": Term(r"\dot\rho", "time derivative of the common cosine", "real"),
    "exp_beta": Term(r"e^\beta", "exponential of the inverse temperature", "positive real"),
    "cluster_rate": Term(r"\lambda", "rate at which 1 - cosine decays near the single cluster", "real"),
    "time": Term("t", "time of the flow", "nonnegative real"),
    "logit_growth": Term("g", "inverse temperature over log n, n the number of tokens", "positive real"),
    "rounded_cosine": Term(r"\rho'", "cosine of two tokens after one step, in millionths, rounded", "integer"),
    "wrong_entries": Term(r"\#_{bad}", "entries that differ from what is stated", "nonnegative integer"),
    # rank collapse: random and Lipschitz attention
    "spectral_limit": Term(r"\Lambda", "a scaled singular value, eigenvalue or stable rank of random attention, mean over matrices", "positive real"),
    "distance_ratio": Term(r"\kappa", "squared d_M after a map over squared d_M before it and the stated factor", "nonnegative real"),
    "jacobian_entry": Term(r"\partial_1 f_1", "derivative of the first token after attention in the first token", "real"),
    "jacobian_norm": Term(r"\|J\|", "norm of the Jacobian of an attention layer at one input", "positive real"),
    "key_size": Term("s", "size of the other tokens", "positive real"),
    # connectivity
    "diameter": Term("D", "largest distance between two vertices of one component of a graph"),
    "vertices": Term("n", "number of vertices of a graph"),
    "max_degree": Term(r"\Delta", "largest degree of a graph"),
    "reached_distance": Term("r_+", "largest distance of two vertices with a positive output entry; n for different components",
                             "nonnegative integer"),
    "largest_entry": Term(r"x_{max}", "largest entry of the output"),
    "minimal_depth": Term(r"L_{min}", "first layer after which every connected pair of vertices has a positive entry", "nonnegative integer"),
    "cycle_length": Term("m", "length of one of two equal cycles, against one cycle twice as long"),
    "cycle_length_max": Term(r"m_{max}", "largest m for which one 2m-cycle is told from two m-cycles"),
    "doubling_layers": Term(r"L_{dbl}", "layers of doublings until every reachable pair is known; 2(n + 1) when never", "nonnegative integer"),
    "vertices_max": Term(r"n_{max}", "largest number of vertices that a statement allows at depth L"),
    # hops
    "hops": Term("k", "number of hops"),
    "hops_first": Term("a", "number of hops taken first", "nonnegative integer"),
    "hops_then": Term("b", "number of hops taken next", "nonnegative integer"),
    "hops_max": Term(r"k_{max}", "largest k for which a statement gives hop_k at depth L"),
    "computed_hops": Term("h", "number of hops that was really computed; -1 when it is none", "integer"),
    "layers_used": Term(r"L_{used}", "first layer from which on every token of an executed network is right; -1 when none is", "integer"),
    "layers_needed": Term(r"L^*", "least depth at which for every N a masked transformer with one head, width O(1) and O(log N) bits does hop_k",
                          "nonnegative integer"),
    "lookup_layers": Term(r"L_{look}", "least depth that holds hop_k when each layer is one lookup at a pointer", "nonnegative integer"),
    "wrong_tokens": Term(r"n_{\mathrm{wrong}}", "tokens on which an executed network differs from hop_k", "nonnegative integer"),
    # parallel computation and reach
    "branching": Term("b", "children of a node of the tree by which machines broadcast and add up"),
    "rounds": Term(r"R_{mpc}", "communication rounds in which machines simulate one layer of attention"),
    "tree_depth": Term("D_0", "depth of a tree with N^(1 + alpha) leaves and branching b", "nonnegative integer"),
    "token_excess": Term(r"\alpha", "exponent of the extra tokens: N^(1 + alpha) of them in all", "nonnegative real"),
    "memory_gap": Term(r"\delta' - \delta", "exponent of a machine's memory minus exponent of the total head width m H", "positive real"),
    "summaries": Term("S", "different summaries of one part of the input that the other part can tell apart"),
    "edges": Term("|E|", "number of edges of a graph", "nonnegative integer"),
    "edges_min": Term(r"|E|_{min}", "least number of edges at which a bound excludes a network, constant and logarithms taken as 1"),
    "components": Term("c", "number of connected components of a graph"),
    "leaves": Term("n_1", "number of vertices of degree 1", "nonnegative integer"),
    "first_difference": Term("j^*", "least length at which the numbers of closed walks of two graphs differ"),
    "powers": Term(r"\#_{pow}", "powers of the adjacency matrix with a positive coefficient in the output"),
    "unbroken_powers": Term(r"J_{pow}", "largest J for which each power A, A^2, ..., A^J of the adjacency matrix has a positive coefficient",
                            "nonnegative integer"),
    "surviving_supports": Term(r"\#_{supp}", "extremal supports of weights that no labelling of two paths refutes", "nonnegative integer"),
    "row_distance": Term(r"r_{row}", "largest distance of two vertices whose output rows have positive product", "nonnegative integer"),
    "survivors": Term(r"\#_{surv}", "weights tried for which some threshold reads reachability off every graph tried", "nonnegative integer"),
    "per_doubling": Term("r", "layers spent on one doubling"),
    "fixed_layers": Term("s", "layers before and after all doublings"),
    "length_max": Term(r"n_{len}", "largest input length that a layer count allows at depth L"),
    # what hops cost, and the published experiment
    "alphabet": Term(r"|\Sigma|", "number of symbols"),
    "subset_sums": Term(r"\#_{sums}", "different sums of subsets of the steps between consecutive keys"),
    "cycles": Term("c", "cycles of a 2-regular graph: one of length k or two of length k/2"),
    "walked": Term("d_w", "distance on the cycle from the start vertex to the answer of hop_k", "integer"),
    "tokens_needed": Term(r"N_k", "tokens of the shortest repetition of the edge list on which hop_k walks k/2 steps"),
    "gap_scaled": Term(r"\lfloor10^9\xi\rfloor", "smallest gap between the best and the next score of a head, in units of 10^-9, rounded down",
                       "nonnegative integer"),
    "distinct_keys": Term(r"\#_{keys}", "different keys of the tokens 0..N"),
    "softmax_error": Term(r"\varepsilon_{soft}", "largest weight that a softmax head leaves to tokens other than the best", "positive real"),
    "epsilon": Term(r"\varepsilon", "error that is allowed", "positive real"),
    "state_bits": Term("Hdp", "bits that one token passes on in one layer: heads times width times precision", "nonnegative integer"),
    "precision": Term("p", "bits of each number that a layer passes on"),
    "summary_bits": Term("B", "bits of a summary of a function that is all that the read-out knows of it", "nonnegative integer"),
    "failing_inputs": Term(r"\#_{fail}", "inputs on which the best read-out of a network errs for some query", "nonnegative integer"),
    "domain_size": Term("n", "size of the domain of the functions that are composed"),
    "composition_error": Term(r"P_{err}", "least error of reading f(x) off a summary of f, f and x uniform", "nonnegative real"),
    "prompt_min": Term(r"n_{min}", "least prompt length at which a bound applies"),
    "tokens_min": Term(r"N_{min}", "least input length at which a bound excludes a width, constant taken as 1"),
    "scored": Term(r"\#_{sc}", "expected number of positions with an answer in one sequence of the published experiment", "nonnegative real"),
    "scored_thousandths": Term(r"\#_{sc}^{\prime}", "the same for 98 symbols out of 4, to the nearest thousandth", "nonnegative real"),
    "return_probability": Term(r"p_{ret}", "probability that hop_(k+1) is the symbol of hop_(k-1)", "nonnegative real"),
    "gpt_parameters": Term(r"N_{GPT}", "printed parameter count of a model of the published experiment, embeddings included"),
    "best_guess_error": Term(r"P_{guess}", "error of the best guess of hop_k from the current symbol and k alone", "positive real"),
    "published_error": Term(r"P_{pub}", "published error of a trained model", "nonnegative real"),
    "inversions": Term(r"\#_{inv}", "pairs of neighbours in a table that stand in the wrong order", "nonnegative integer"),
    "accuracy": Term("a", "share of answers that a trained net gives right", "nonnegative real"),
    "trained_depth": Term(r"L_{tr}", "least depth at which trained nets answer every group of a task"),
    "trained_reach": Term(r"D_{tr}", "largest distance up to which trained nets are right on at least 95 % at every distance"),
    "local_radius": Term(r"r_{loc}", "radius of the local baseline that answers most like trained nets, by least squares over distances"),
    "succeeded": Term("s_{tr}", "share of the trainings of a task and depth that succeed within their budget", "nonnegative real"),
    "depth_slope": Term(r"\beta", "slope of least depths against a logarithm of the size of the task", "real"),
    "hops_learned": Term(r"k_{learn}", "largest tested k that a trained model answers with an error below 1/10"),
    # counting parameters, operations and memory
    "total_parameters": Term(r"N_{tot}", "all parameters of a net: weights, biases, norms, positions, embeddings and read-out"),
    "weights": Term("N_W", "entries of the weight matrices inside layers: no embeddings, positions, norms or biases"),
    "active_parameters": Term(r"N_{act}", "parameters that one token passes through in a mixture of experts"),
    "vocabulary": Term("V", "number of tokens in the vocabulary"),
    "positions": Term(r"n_{ctx}", "number of learned position embeddings"),
    "attention_width": Term(r"d_{attn}", "width of all query heads together"),
    "kv_width": Term(r"d_{kv}", "width of all key heads together, which is that of all value heads"),
    "ff_width": Term(r"d_{ff}", "inner width of the feed-forward network"),
    "experts": Term("E", "feed-forward networks per layer"),
    "experts_active": Term("k_E", "feed-forward networks per layer that a token passes through"),
    "shared_width": Term(r"d_{sh}", "largest width of a net whose layers share their weights, at the weights of one whose layers do not"),
    "relative_error": Term(r"\delta", "relative distance of an approximate count from the exact one", "nonnegative real"),
    "rounding_gap": Term("u", "distance of a printed number from the exact one, in units of its last printed digit", "nonnegative real"),
    "size_millions": Term(r"N_{10^6}", "parameters in millions"),
    "growth": Term("g", "factor by which a larger net exceeds a smaller one", "positive real"),
    "stated": Term("s", "value that a text states", "positive real"),
    "multiply_adds": Term(r"\#_{mac}", "multiplications, each followed by an addition, of one pass"),
    "operations": Term(r"\#_{op}", "floating-point operations; a multiplication and an addition are two", "nonnegative integer"),
    "attention_ratio": Term(r"\rho_{att}", "operations of attention scores and averages over those with weights", "positive real"),
    "batch": Term("b", "number of sequences"),
    "activation_bytes": Term(r"M_{act}", "bytes kept from the forward for the backward pass"),
    "stored_values": Term(r"\#_{val}", "numbers kept for the backward pass, and their gradients"),
    # signal propagation: norms and gradients
    "input_variance": Term(r"\sigma^2", "variance of every coordinate of a Gaussian input", "positive real"),
    "squared_norm": Term(r"\mathbb{E}\|\mathrm{ReLU}(X)\|^2", "mean squared norm of ReLU applied to a Gaussian vector", "positive real"),
    "mean_square": Term(r"\mathbb{E}\|x_l\|^2/d_x", "mean square of a coordinate of the residual stream after layer l", "positive real"),
    "sum_mean_square": Term(r"\mathbb{E}\|x_l^{post,5}\|^2/d_x", "mean square of a coordinate of the residual sum before a post-LN layer's last LayerNorm", "positive real"),
    "centred_square": Term(r"\|y\|^2", "squared norm of a row vector minus its mean", "positive real"),
    "jacobian_square": Term(r"\|J_{LN}\|_2^2", "squared spectral norm of the Jacobian of LayerNorm at a point", "nonnegative real"),
    "jacobian_trace": Term(r"\|J_{LN}\|_F^2", "squared Frobenius norm of the Jacobian of LayerNorm at a point", "nonnegative real"),
    "relative_excess": Term(r"\epsilon", "how far a squared norm exceeds its mean, relative to the mean", "positive real"),
    "excess_probability": Term(r"\Pr[\|X\|^2>(1+\epsilon)d_x]", "chance that a standard Gaussian vector has so large a squared norm", "positive real"),
    "gradient_slope": Term(r"\partial\log\|\nabla W^{2,L}\|/\partial\log L",
                           "least-squares slope of the log size of the last feed-forward gradient against log L over depths that double", "real"),
    "log_gradient": Term("G_L",
                         "E log ||gradient||^2 of the last feed-forward matrix, less c(d), its value where the last LayerNorm sees variance 1", "real"),
    # signal propagation: initialisation
    "fan_in": Term("n_{in}", "inputs of a linear layer"),
    "fan_out": Term("n_{out}", "outputs of a linear layer"),
    "layer_growth": Term("g", "fan-in times the variance of a weight", "positive real"),
    "layer_variance": Term("v_l", "mean square of a coordinate of the output of layer l, when it is 1 after layer 1", "positive real"),
    "weight_variance": Term(r"\mathrm{Var}\,W", "variance of a weight", "positive real"),
    "signal_gain": Term("v_{out}/v_{in}", "mean square of an output coordinate of a linear layer over that of its input", "positive real"),
    "branch_variance": Term("s^2", "variance of what one residual branch writes before scaling", "positive real"),
    "stream_variance": Term(r"\mathrm{Var}\,x_L", "variance of the residual stream after all branches, when it starts at 1", "positive real"),
    "gradient": Term(r"\partial x_n/\partial x_1", "product of the derivatives of all layers", "real"),
    "gradient_level": Term(r"\delta", "level that a vanishing gradient falls below", "positive real"),
    "learning_rate_ratio": Term(r"\eta_{l+1}/\eta_l", "learning rate of a layer over that of the layer before", "positive real"),
    "survival": Term("p_L", "probability that stochastic depth keeps the last layer", "positive real"),
    "expected_depth": Term(r"\mathbb{E}\tilde L", "mean number of layers that stochastic depth keeps", "positive real"),
    "branch_slope": Term("a", "slope of a linear residual branch", "real"),
    "mean_output": Term(r"\mathbb{E}x_L/x_0", "mean output of a residual net with linear branches over the layers dropped", "real"),
    # signal propagation: scaling with depth
    "decoder_depth": Term("M", "decoder layers of an encoder-decoder"),
    "residual_scale": Term(r"\alpha", "DeepNorm's factor on the residual branch, rounded down to nine decimals", "positive real"),
    "init_scale": Term(r"\beta", "DeepNorm's factor on initial weights, rounded down to nine decimals", "positive real"),
    "weight_scales": Term("v_d^2+w_d^2", "sum of the squared initial scales of a decoder sublayer's two matrices", "positive real"),
    "sublayers": Term("n", "number of residual sublayers"),
    "amplification": Term(r"\sum_i\beta_{i,i}^2", "sum over sublayers of the share that each has in its own output's variance", "positive real"),
    "branch_share": Term(r"\beta_{i,i}^2", "share of a residual branch in the variance of the sum it is added to", "positive real"),
    "depth_power": Term(r"\alpha", "residual branches are multiplied by L^(-alpha)", "positive real"),
    "variance_exponent": Term(r"e_{var}", "exponent of L in the variance that all branches write", "real"),
    "adam_exponent": Term(r"e_{Adam}", "exponent of L in the Adam learning rate that makes the output's first-order change flat in L", "real"),
    "sgd_exponent": Term(r"e_{SGD}", "exponent of L in the SGD learning rate that makes the output's first-order change flat in L", "real"),
    "gradient_exponent": Term(r"e_{grad}", "exponent of L in the gradient of a weight inside a residual branch", "real"),
    "second_order_exponent": Term(r"e_2", "exponent of L in the ratio of second-order to linear response of one branch to one step", "real"),
    "width_exponent": Term(r"e_{width}", "exponent of the width in the change of an activation by one step at muP's learning rate", "real"),
    # signal propagation: correlation of tokens
    "attention_square": Term("a^2", "squared weight of the attention branch", "nonnegative real"),
    "mlp_square": Term("a_2^2", "squared weight of the MLP branch", "nonnegative real"),
    "common_start": Term("C_0", "squared norm of the sum of the input tokens", "nonnegative real"),
    "total_start": Term("N_0", "sum of the squared norms of the input tokens", "positive real"),
    "common": Term(r"\mathbb{E}C_l", "mean squared norm of the sum of the tokens after layer l", "nonnegative real"),
    "total": Term(r"\mathbb{E}N_l", "mean sum of the squared norms of the tokens after layer l", "positive real"),
    "correlation": Term(r"\rho_l", "(E C_l - E N_l) / ((n - 1) E N_l): mean correlation of distinct tokens after layer l", "real"),
    "limit_correlation": Term(r"\rho_\infty", "limit of the correlation for a^2 = t^2/L, L to infinity, rounded down to nine decimals", "real"),
    "scaled_square": Term("t^2", "L times the squared weight of the attention branch", "positive real"),
    "common_growth": Term("C'/C", "factor by which a ReLU branch multiplies the mean squared norm of the sum of the tokens", "positive real"),
    "cosine": Term("c", "cosine of the angle between two vectors", "real"),
    "relu_kernel": Term("k(c)", "twice the mean of ReLU(u) ReLU(v) for standard Gaussians of correlation c", "nonnegative real"),
    "relu_kernel_digits": Term(r"\lfloor k(c)\rfloor_9", "the ReLU kernel k(c), rounded down to nine decimals", "nonnegative real"),
    "gram_square": Term(r"\|X_c^\top X_c\|_F^2", "squared Frobenius norm of the Gram matrix of the centred tokens", "nonnegative real"),
    "query_gradient": Term(r"\mathbb{E}\|\partial S/\partial W_Q\|_F^2", "mean squared derivative of attention with respect to the query weights", "nonnegative real"),
    "value_gradient": Term(r"\|\partial S/\partial W_V\|_F^2", "squared derivative of attention with respect to the value weights", "nonnegative real"),
    "token_variance": Term(r"\sigma_x^2", "mean square of a token's coordinate", "positive real"),
    "start_correlation": Term(r"\rho", "mean correlation of distinct input tokens", "real"),
    "pre_norm": Term("pre", "1 for pre-LN, 0 for post-LN", "nonnegative integer"),
    "gain_controlled": Term("gc", "1 for attention without its common part, 0 for plain attention", "nonnegative integer"),
    "first_correlation": Term(r"\rho_1", "correlation p/q after the first layer, rounded to four decimals", "real"),
    "overlap": Term("p", "mean product of coordinates of two distinct tokens", "real"),
    "sharpness": Term(r"\beta_{att}", "scale of the query and key weights in units where scores grow as sqrt(ln T)", "positive real"),
    "participation": Term("Y", "mean of the sum of squared attention weights for many tokens, rounded down to nine decimals", "nonnegative real"),
    "contraction": Term(r"e^{\lambda}", "factor by which a block multiplies 1 - p/q when p is close to q", "positive real"),
    "weight_square": Term("s^2", "width times the variance of a weight of the first MLP matrix", "positive real"),
    "activation_moment": Term(r"\mathbb{E}\phi(sz)^2", "mean square of the activation", "positive real"),
    "derivative_moment": Term(r"\mathbb{E}\phi'(sz)^2", "mean square of the derivative of the activation", "positive real"),
    # published tables
    "entries": Term("n", "number of entries of a table"),
    "gain": Term("g", "by how much one net is better than another in a table", "real"),
    "wins": Term("w", "entries of a table in which a net is the better one", "nonnegative integer"),
    "bleu_delta": Term(r"\Delta", "printed difference in BLEU", "positive real"),
    "bleu_tenths": Term("B", "BLEU in tenths"),
    "bleu_baseline_tenths": Term("B_0", "BLEU of the baseline in tenths"),
    "improvement": Term("i", "printed improvement of one net over another", "real"),
    "encoder_layers": Term("L_{enc}", "encoder layers"),
    "decoder_layers": Term("L_{dec}", "decoder layers"),
    "restated_gap": Term("u", "distance between a number as printed and as restated elsewhere", "nonnegative real"),
    "best_depth": Term(r"L^\star", "depth of the best of several trained nets"),
    "shallower": Term("L_0", "depth of the next smaller net"),
    "spread_percent": Term("s", "worst loss over best loss less one, in percent", "nonnegative real"),
    "remaining": Term(r"\rho", "parameters of one net over those of another", "positive real"),
    "local_exponent": Term(r"\partial\ln D/\partial\ln W", "local exponent of a depth as a function of the width", "positive real"),
    # formal languages
    "blocks": Term("k", "number of blocks of equal letters in a+ b+ a+ ..."),
    "letters": Term("k", "least number of letters in a word"),
    "attention_layers": Term("L^*", "least number of layers of rightmost unique hard attention that recognises a language", "integer"),
    "unary_kinds": Term("c", "how many of the words 1, a, aa, ... networks of a depth tell apart"),
    "separated_pairs": Term("s", "pairs of words that networks of a depth tell apart", "nonnegative integer"),
    "wrong_words": Term(r"\#_{wrong}", "words on which two descriptions of a language differ", "nonnegative integer"),
    "monoid_period": Term("p", "period of the transition monoid of the minimal automaton"),
    "modulus": Term("m", "modulus to which letters are counted"),
    "count_depth": Term(r"L_{\#}", "nesting depth of a counting formula that is right on every word tried", "integer"),
    "depth_one_fails": Term("f", "1 if two words that depth 1 cannot tell apart differ in membership, else 0", "nonnegative integer"),
    "perfect_depth": Term("L_{100}", "least depth with a published accuracy of 100 %"),
    "subsequence_level": Term("m", "length of subsequences that decide membership", "integer"),
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
