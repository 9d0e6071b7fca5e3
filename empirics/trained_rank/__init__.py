"""Nets trained on a target of known separation rank: what depth and width allow, and what training
reaches."""
