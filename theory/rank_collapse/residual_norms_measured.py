"""Old names, until every module of this topic uses the new ones."""
from __future__ import annotations

from ..proof_steps import at_least, sum_step
from .rational_matrices import Matrix, norms, product, random_matrix, root, squared_norm
from .residual_norms import logits, product_steps, range_steps, ranges

__all__ = ["Matrix", "at_least", "logits", "norms", "product", "product_steps", "random_matrix", "range_steps", "ranges", "root",
           "squared_norm", "sum_step"]
