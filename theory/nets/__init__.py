"""Exact nets as values: what a claim of a construction measures, and what a file of weights holds.

A net is a value of one of four families (`attention`, `recurrent`, `relu`, `thoughts`), made from
its JSON by `json_format.net_of` and holding it as `net.body`. A construction is one function
`net(case)` beside its claim, often written with `builder.Stream`, which names coordinates. The
claim's body measures the net alone:

    def _layers(case, net):
        right = right_on(net, parity_bits(case.bits))           # nets.right, atlas.tasks
        broken = in_class(net, CLASS, letters=case.bits)        # nets.classes
        return Exact(net.depth if right and not broken else -1)

- `right.right_on(net, task, words)` is true where the net is right, on every word that is run, or
  on all words where its states close up; else it names the first mistake.
- `classes.in_class(net, key)` is "" or what of the class, a row of `advisor/atlas/classes.csv`, its
  weights break. A net that is wrong or breaks the class is no witness: the claim measures -1 in
  place of its depth and FAILS.
- A negative control is one weight changed: `json_format.changed(net, *way, to=...)`.
- A file is `{"task": ..., "parameters": ..., "class": ..., **net.body}`, as
  `json_format.text_of` writes it.

A claim whose net no exact run reaches (real bases at large sizes, very long words) simulates it and
says that its class is words alone.
"""
