"""What networks do: torch nets and measurements, attached to the claims of `depthlaw.theory` by
key."""
