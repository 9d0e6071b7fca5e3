"""Which runs are missing, and doing them."""
