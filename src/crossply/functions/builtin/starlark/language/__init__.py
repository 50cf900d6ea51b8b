"""Starlark, the language: a script becomes Python code that runs on the values of Starlark.

`parser` parses a script with Python's parser and refuses what Starlark does not have. `resolver` checks its
names. `statement_compiler` and `expression_compiler` turn its tree into one that calls helpers for everything
that Starlark does differently: `operators`, `calls`, `indexing`, `attributes` and so on. `program` runs it.
`values` has the types, `universe` the predeclared names, and `backtrace` makes the message of an error.
Messages are those of Starlark in Go, which users search for.

Strings are sequences of bytes in UTF-8, as in Go; see `go_strings`.
"""
