"""function-kcl: compose resources with KCL programs.

`function` is the entry point, `input` decodes the step, `options` is what `option("params")` returns.
Programs run in a sandboxed worker: `worker` is the language module, `native` calls the KCL core,
`core_protobuf` encodes its messages. `output` turns the result into objects. `targets` applies them to the
desired state, which is in `response_state`; `meta_kinds` applies those that are instructions for the engine.
"""
