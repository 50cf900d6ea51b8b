"""The kinds that every Kubernetes has: Namespace, Secret, Deployment and the others.

`table` holds what was derived from a real server (resources, structure, how Go writes each field); `kinds`
makes `Resource`s of it. An object of a built-in kind is first brought into the form in which Go would write
it back (`go_form`: unknown fields gone, empty ones left out, defaults filled in by `defaults`), then its
`strategies` check it. `forms` turns one version of a kind into another. `printers` know the columns of
`kubectl get`.
"""

from __future__ import annotations

from crossply.apiserver.builtin.conversions import converted
from crossply.apiserver.builtin.decode_errors import decode_problem
from crossply.apiserver.builtin.go_structs import blank, normalised
from crossply.apiserver.builtin.resource_table import definitions
from crossply.apiserver.builtin.resources import definition_of, resources
from crossply.apiserver.builtin.strategies import strategy_for
from crossply.apiserver.builtin.strategies.base import Strategy
from crossply.apiserver.builtin.unknown_fields import unknown_fields

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
