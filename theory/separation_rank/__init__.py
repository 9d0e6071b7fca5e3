"""Separation rank of linearised attention: the threshold log_3(d_x), Levine's bounds, and S(d, L).

The separation rank of a scalar output with respect to two halves of the tokens is the least number
of products of a function of one half and one of the other that add up to it. The output is linear
in the token that is read and a form in the second moments of all: a matrix of coefficients has it.
"""
