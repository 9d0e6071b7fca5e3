"""Runs claims against measurements, keeps the records, judges, publishes; home of the command
line."""
