"""Helpers for tests of what is published."""
