"""Modules of programs that come from registries, for the languages that have them."""
