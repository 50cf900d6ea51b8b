"""function-sequencer: create resources only when the resources they depend on are ready.

`function` is the entry point, decodes the rules and applies them, `usages` composes the Usages that order
deletion.
"""
