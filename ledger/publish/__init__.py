"""Appendix, pages, figures and citations."""
