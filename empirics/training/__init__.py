"""Training: optimiser, settings, runs that resume, evaluation."""
