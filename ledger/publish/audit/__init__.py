"""An audit in words, as a page, and as pictures."""
