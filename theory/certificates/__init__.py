"""Certificates, checked from the file alone, by a net written a second time."""
