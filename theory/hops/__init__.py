"""k-hop retrieval: hop_k follows k times the pointer "the token after the last earlier copy of me".

It needs about log2 k layers: what executed networks do, what they cost, and what trained nets did.
"""
