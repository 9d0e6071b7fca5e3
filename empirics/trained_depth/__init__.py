"""Where depth binds in trained nets: connectivity, hops and induction, measured by training.

No theorem says what training finds. Expected is that it finds what explicit weights show to be
possible, and no more; both may fail, and are judged by counts on fresh examples.
"""
