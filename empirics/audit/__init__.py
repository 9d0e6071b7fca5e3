"""Is the depth of a trained model used? Measures of its layers with intervals, null models, the
correction for a search, and models whose answer is known."""
