"""What every folder needs: the error for people, and parsing of quantities."""
