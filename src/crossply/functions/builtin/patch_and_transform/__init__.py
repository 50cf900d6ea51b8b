"""The built-in function-patch-and-transform.

A step's input lists the resources to compose, the patches between them and the composite resource, and the
transforms of patched values. One run, file by file:

1. `compiled_input_cache` looks up the compiled input, or has `compiled_input` compile it: `input_decoder`
   decodes it by the `input_schema`, `validation` checks it, patch sets are expanded, `patches` and
   `transforms` become closures. An input is compiled once, however often it runs.
2. `compiled_input_run` runs a compiled input: environment patches first, then each resource in turn
   (`readiness`, `connection_details`, patches), then the connection secret of a modern composite resource.
3. `function` is the function as Crossplane ships it. `resources_mode` gives the same templates the semantics
   of Crossplane's own `mode: Resources`. What differs between the two is data, in `dialect`. The environment
   of such a Composition is selected by `resources_mode_environment`.
"""

from __future__ import annotations
