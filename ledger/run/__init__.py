"""Suites, engines and records: what is run, by whom, and what is recorded of it."""
