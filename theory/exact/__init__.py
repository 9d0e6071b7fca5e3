"""Exact linear algebra and enclosures: finite fields, residues, panels of matrices, balls."""
