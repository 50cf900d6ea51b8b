"""function-dummy: answers with what it is told, for tests and first steps.

`function` is the door; `builtin.protojson` reads the message that the input holds.
"""
