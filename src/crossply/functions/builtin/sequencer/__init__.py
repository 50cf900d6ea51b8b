"""function-sequencer: create resources only when the resources they depend on are ready.

`function` is the entry point and applies the rules, `input` decodes them, `usages` composes the Usages that
order deletion.
"""
