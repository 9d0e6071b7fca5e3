"""The site: pages filled in from records."""
