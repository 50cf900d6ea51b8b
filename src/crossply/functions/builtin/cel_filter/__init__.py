"""function-cel-filter: CEL expressions that remove composed resources and validate requests.

`function` is the entry point. `expressions` evaluates CEL in a sandboxed process, which runs `worker`.
"""

from __future__ import annotations

BOOL = "bool"
"""The type of an expression that must be a boolean when it is compiled."""

STRING = "string"
"""The type of an expression that must be a string when it is compiled."""

TEMPLATE_CONDITION = "template condition"
"""The type of a boolean expression with the error texts of function-conditional-patch-and-transform."""

CONDITION = "condition"
"""The type of an expression whose value must be a boolean, though its compiled type may be dynamic."""
