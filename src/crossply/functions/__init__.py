"""Running functions: one Runner protocol, and the functions that ship with Crossply."""
