"""function-tag-manager: cloud tags on the composed resources that have them, and labels on all.

`function` is the door, `input` reads what the step says, `sources` finds the tags it speaks of, `kinds`
tells which resources have tags.
"""
