class TheoryRow:
    pass


def beside(*a):
    return ()
