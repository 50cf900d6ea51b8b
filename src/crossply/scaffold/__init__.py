"""What `crossply new` writes: text made of names, examples and schemas. Nothing here touches files.

`project`, `composition`, `suite_from_rendering` and `function_package` write whole files.
"""
