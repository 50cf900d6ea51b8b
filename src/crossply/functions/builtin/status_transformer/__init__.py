"""function-status-transformer: conditions of composed resources become conditions and events of the XR.

`function` is the entry point and writes conditions and events, `input` decodes the hooks, `matchers` decides
which of them apply.
"""
