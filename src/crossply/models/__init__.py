"""Typed models of kinds: classes in Python and schemas in KCL, made of definitions; pure."""
