"""Separation ranks near the limits of memory and time."""
