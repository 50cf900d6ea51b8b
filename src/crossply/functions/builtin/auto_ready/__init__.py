"""function-auto-ready: mark composed resources as ready.

`function` is the entry point, `health` decides by kind or by condition, `input` decodes the step's input.
"""
