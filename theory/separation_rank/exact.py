"""Moved: see piece_rank."""
from .piece_rank import rank_of_piece

__all__ = ["rank_of_piece"]
