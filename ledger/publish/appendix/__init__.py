"""The appendix: text, statements, data, formats."""
