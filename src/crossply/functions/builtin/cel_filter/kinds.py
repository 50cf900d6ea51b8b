"""The kinds of expressions, by the values that they are to have."""

from __future__ import annotations

BOOL = "bool"
"""An expression that is known to give a boolean before it is evaluated."""

STRING = "string"
"""An expression that is known to give a string."""

CONDITION = "condition"
"""An expression that may turn out to give a boolean only when it is evaluated, as a field of an object."""
