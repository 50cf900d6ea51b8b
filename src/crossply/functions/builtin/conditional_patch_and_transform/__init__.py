"""function-conditional-patch-and-transform: patch-and-transform with CEL conditions.

A condition of the input decides whether the step runs, one of a resource whether the resource is composed.
`conditions` evaluates them, `function` has patch-and-transform render what they let through.
"""

from __future__ import annotations
