"""Depth for a parameter budget N = 12 L d^2: the threshold log_3(d) and Levine's fit."""
