"""Proofs that the kernel of the Rocq prover checks: `make prove`."""
