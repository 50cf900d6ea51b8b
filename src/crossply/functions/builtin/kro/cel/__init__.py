"""CEL as resource graphs use it: expressions checked against OpenAPI schemas, and evaluated on plain data.

`parser` makes a tree (with the parser of cel-expr-python), `checker` finds the type of an expression by the
types of `declared_types` and the `overload_declarations` of functions, `evaluator` turns a tree into a
Python function. Types, values and messages are those of cel-go, which kro uses: objects with unknown
fields, optional values inside of values, loops with two variables and `omit()` cannot be had from
cel-expr-python's own evaluator.
"""
