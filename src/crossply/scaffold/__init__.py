"""What `crossply new` writes: text made of names, examples and schemas. Nothing here touches files.

`project`, `composition`, `suite_text` and `function` write whole files; `models` reads schemas into classes
and `model_code` writes those as Python.
"""
