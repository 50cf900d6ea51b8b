"""function-starlark: compose resources with Starlark scripts.

`function` is the entry point and builds the response, `input` decodes the step. Scripts run in a sandboxed
worker: `worker` is the language module, `script` evaluates a script, `script_calls`, `prelude.star` and
`schemas.star` define what it can call, `libraries` the modules `crypto`, `encoding`, `regex` and `yaml`.
"""
