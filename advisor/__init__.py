"""How deep a transformer should be: laws as plain functions, and the answers built from them."""
