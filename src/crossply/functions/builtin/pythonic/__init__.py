"""function-pythonic: compose resources with subclasses of `BaseComposite`.

`function` is the entry point: it collects the program of a step and asks a sandboxed `worker`, which executes
the program and calls its class (`composite_call`). What a program handles is a tree over the request and the
response: `value` is free-form data, `message` the messages of the protocol as `message_types` declares them.
Reading what is missing gives a placeholder, writing to one creates everything above it. `composite` is the
class that programs extend; its parts are in the modules beside it. After `compose` has returned,
`composite_call` completes the response with Usages and `readiness`, and `worker` writes it.
"""
