"""The built-in function-patch-and-transform.

A step's input says which resources to compose, what to copy between them and the composite resource, and
how to change values on the way. The story of one run, file by file:

1. `plan_cache` finds the plan for the step's input, or has `plan` make it: `decode` reads the input by its
   `shapes`, `validation` judges it, `patch_sets` are put in their places, `patches` and `transforms` become
   closures. That happens once for an input, however often it runs.
2. `composing` runs a plan: `environment` patches first, then every resource in turn (`readiness`,
   `connection` details, patches), then the `connection_secret` of a modern composite resource.
3. `function` is the function as Crossplane ships it; `native` gives the same templates the meaning they had
   in Crossplane's own `mode: Resources`. What differs between the two is data, in `dialect`.
"""

from __future__ import annotations
