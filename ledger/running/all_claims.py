"""All claims, imported: what the server of processes loads before it forks the first one."""

import gc

from depthlaw.theory.claims.definition import registry

registry()
# What stays is not looked through again in any of them.
gc.freeze()
