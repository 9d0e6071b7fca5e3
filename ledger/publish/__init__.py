"""Appendix, pages and figures."""
