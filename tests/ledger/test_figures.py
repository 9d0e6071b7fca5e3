"""The figure: its points are the records, its curves the functions, its bytes always the same."""
