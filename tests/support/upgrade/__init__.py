"""Helpers for tests that run an older version before and after this one."""
