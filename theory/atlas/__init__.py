"""The tasks of the atlas of least depth, and certificates that a depth does not suffice."""
