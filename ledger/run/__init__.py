"""Suites, engines and records: what is run, by whom, and what is kept of it."""
