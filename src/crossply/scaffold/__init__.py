"""What `crossply new` writes: text made of names, examples and schemas. Nothing here touches files.

`project`, `composition`, `test_suite` and `function_package` write whole files.
"""
