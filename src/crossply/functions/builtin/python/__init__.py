"""function-python: compose resources with Python scripts, written against the messages of the published SDK.

`function` is the entry point. Scripts run in a sandboxed worker: `worker` compiles and calls them,
`script_environment` is what they may import and call, `event_loop` runs their coroutines.
"""
