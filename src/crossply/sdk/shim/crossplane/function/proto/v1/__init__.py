"""Version v1 of the function protocol."""
