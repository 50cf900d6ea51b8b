"""An engine for Go's text/template, with Go's types, limits and error messages.

`lexer`, `token_stream`, `parser` and `pipeline_parser` turn text into `nodes`. `statements`, `expressions`,
`calls`, `fields` and `arguments` compile nodes into closures. `go_templating.program` is the entry point: it
compiles a text with all functions and renders it.
"""
