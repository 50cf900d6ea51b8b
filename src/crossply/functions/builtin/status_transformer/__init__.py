"""function-status-transformer: conditions of composed resources become conditions and events of the XR.

`function` is the entry point, decodes the hooks, and writes conditions and events, `matchers` decides which
of them apply.
"""
