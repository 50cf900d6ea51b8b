"""Usages: what is in use cannot be deleted."""
