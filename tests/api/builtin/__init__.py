"""Kinds that every server knows."""
