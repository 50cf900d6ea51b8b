"""Composites of networks, which cases name by their path."""

ZONES = ("a", "b")
