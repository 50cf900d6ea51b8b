"""function-starlark: Starlark composes resources.

`function` is the door, `input` reads the step, `answer` turns what a script said into a response. The script
itself runs in a confined worker: `worker` is its language, `script` runs it, `natives`, `prelude.star` and
`schemas.star` are what it can call, `libraries` the modules `crypto`, `encoding`, `regex` and `yaml`.
"""
