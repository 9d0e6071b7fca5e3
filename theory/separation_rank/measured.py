"""Old names, until their callers are converted."""
from .explicit_weights import certified_rank, coordinate_net, form_exponents, linear_forms
from .value_rank import measured_rank, rank_mod, separation_rank

__all__ = ["certified_rank", "coordinate_net", "form_exponents", "linear_forms", "measured_rank",
           "rank_mod", "separation_rank"]
