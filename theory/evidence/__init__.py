"""Published tables as data, and the statements that texts draw from them, in exact decimals.

Nothing here is measured by us: a verdict says whether a sentence follows from the numbers it is
about. Every row of the tables is used by a claim or named on a page of docs/papers.
"""
