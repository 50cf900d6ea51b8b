"""function-starlark: compose resources with Starlark scripts.

`function` is the entry point and builds the response, `input` decodes the step. Scripts run in a sandboxed
worker: `worker` is the language module, `script` a script with its modules, `language` the language itself.
`predeclared` has the names that scripts find: `desired_resources`, `response_builtins`, `request_lookups`,
`schemas` and the modules of `library`. `response_builder` and `sequencing` make a response of what a script
did.
"""
