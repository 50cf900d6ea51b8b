"""Version v1beta1 of the function protocol."""
