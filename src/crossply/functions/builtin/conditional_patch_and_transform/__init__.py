"""function-conditional-patch-and-transform: patch-and-transform with CEL conditions.

A condition of the input decides whether the step runs, one of a resource whether the resource is composed.
`function` evaluates them, and has patch-and-transform render what they let through.
"""

from __future__ import annotations
