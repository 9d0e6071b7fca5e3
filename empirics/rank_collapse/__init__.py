"""Rank collapse measured: residuals by layer in nets as they are used, random and trained."""
