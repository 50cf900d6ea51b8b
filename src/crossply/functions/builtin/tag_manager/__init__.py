"""function-tag-manager: set cloud tags on composed resources that support them, and labels on all.

`function` is the entry point, `tag_sources` reads the tags that the input refers to, `taggable_kinds` knows
which resources support tags.
"""
