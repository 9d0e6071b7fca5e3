"""Every number m of blocks: depth m // 2 + 1 both ways, true at all positions alike."""
from depthlaw.theory.formal_languages.automaton import block_language, minimal, words
from depthlaw.theory.least_depth.counting_both_ways import alternation, depth, truths

def anywhere(x):
    return ("counts", ((1, "<", x), (1, ">", x)), 1)

def contains(letters):
    mid = len(letters) // 2
    return anywhere(("and", alternation(letters[mid::-1], "<"), alternation(letters[mid:], ">")))

for m in range(1, 8):
    first, second = (("ab" * m)[i : m + i] for i in (0, 1))
    f = ("and", contains(first), ("not", contains(second)))
    accepts = minimal(block_language(m)).accepts
    wrong = sum(set(truths(f, w)) != {accepts(w)} for w in words(10) if w)
    print(m, depth(f), m // 2 + 1, wrong)
