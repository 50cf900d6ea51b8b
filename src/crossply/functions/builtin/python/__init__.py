"""function-python: Python composes resources, written against the messages of the published SDK.

`function` is the door. The script runs in a confined worker: `worker` is its language, `surroundings` what a
script may import and call, `truth_as_numbers` lets it say `ready = True`, `quiet_loop` runs its coroutines,
`blame` tells where it went wrong.
"""
