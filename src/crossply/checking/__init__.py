"""Checks of a platform repository without a cluster: files, definitions, Compositions, examples."""
