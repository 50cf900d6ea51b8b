"""The built-in kinds: Namespace, Secret, Deployment and the others.

`kind_schema_table` has what was derived from a real server (resources, structure, how Go writes each field);
`resources` turns it into `Resource`s. An object of a built-in kind is first normalized to the form in which
Go would write it (`go_round_trip`: unknown fields removed, empty ones left out, `defaults` set), then
validated by its strategy (`strategies`). `conversions` converts between versions. `printers` have the columns
of `kubectl get`.
"""

from __future__ import annotations

from crossply.apiserver.builtin.conversions import converted
from crossply.apiserver.builtin.decode_errors import decode_problem, unknown_fields
from crossply.apiserver.builtin.go_round_trip import blank, normalised
from crossply.apiserver.builtin.kind_schema_table import definitions
from crossply.apiserver.builtin.resources import definition_of, resources
from crossply.apiserver.builtin.strategies import strategy_for
from crossply.apiserver.builtin.strategies.base import Strategy

__all__ = [
    "Strategy",
    "blank",
    "converted",
    "decode_problem",
    "definition_of",
    "definitions",
    "normalised",
    "resources",
    "strategy_for",
    "unknown_fields",
]
