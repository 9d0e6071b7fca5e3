"""Whether a trained model uses its depth: measures by layer, nulls, known answers.

Nothing is trained here and no gradient is taken. Importing this package loads no torch.
"""

from depthlaw.advisor.base.quantities import UsageError


class AuditError(UsageError):
    """A model, a text or an argument that an audit refuses: one line, exit code 2."""
