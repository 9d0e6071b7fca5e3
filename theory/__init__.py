"""What the papers say, exactly: formulas, exact kernels, and the claims built from them. Never imports torch."""
