"""The functions that ship with Crossply."""
