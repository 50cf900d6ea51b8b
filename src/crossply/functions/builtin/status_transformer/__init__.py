"""function-status-transformer: what composed resources say of themselves becomes conditions of the XR.

`function` is the door, `input` reads the hooks, `matching` tells which of them apply, `outcome` writes the
conditions and events, with what the patterns captured put into their messages.
"""
