"""Composite resources: chosen for, composed, written, watched, and woken again."""
