"""Records: what a run measured, where it is kept, and on which machine it was done."""
