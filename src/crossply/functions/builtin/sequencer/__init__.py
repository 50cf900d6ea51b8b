"""function-sequencer: nothing is created before what it needs is ready.

`function` is the door, `input` reads the rules, `sequencing` applies them, `usages` writes the Usages that
keep the order when things are deleted.
"""
