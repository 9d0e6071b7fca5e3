"""Signal propagation at initialisation: norms, gradients, token correlations."""
