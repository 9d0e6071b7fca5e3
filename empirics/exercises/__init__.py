"""The five exercises of a textbook section on deep networks, as measurements."""
