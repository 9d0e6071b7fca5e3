"""Nets: layers, attention, initial weights, and networks with explicit weights."""
