"""The messages of the function protocol."""
