"""function-tag-manager: set cloud tags on composed resources that support them, and labels on all.

`function` is the entry point and reads the tags that the input refers to, `taggable_kinds` knows which
resources support tags.
"""
