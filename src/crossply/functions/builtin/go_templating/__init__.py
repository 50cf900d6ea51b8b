"""function-go-templating: a template's text becomes composed resources.

`function` is the door. `lexer`, `parser` and `execution` are an engine for Go's text/template, written to
say what Go says; `sprig` and `extra_functions` hold what templates can call; `documents` reads what came out.
"""
