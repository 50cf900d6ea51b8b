"""Resources that the engine fetched, put into the context for the steps that follow."""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Mapping

from crossply.compose.messages import Resource
from crossply.functions.builtin.go_templating.outcome import Outcome
from crossply.values import Object

CONTEXT_KEY = "apiextensions.crossplane.io/extra-resources"


def with_extra_resources(outcome: Outcome) -> Object | None:
    """The context with what was fetched for this step, beside what was there for earlier ones."""
    for groups in (outcome.request.extra_resources, outcome.request.required_resources):
        if groups:
            before = outcome.context_so_far.get(CONTEXT_KEY)
            merged = {**(before if isinstance(before, dict) else {}), **_shown(groups)}
            outcome.context = {**(outcome.context or {}), CONTEXT_KEY: merged}
    return outcome.context


def _shown(groups: Mapping[str, tuple[Resource, ...]]) -> Object:
    return {
        name: {"items": [_resource(resource) for resource in group]} if group else {}
        for name, group in groups.items()
    }


def _resource(resource: Resource) -> Object:
    shown: Object = {"resource": resource.object}
    if resource.connection_details:
        shown["connection_details"] = {
            name: b2a_base64(value, newline=False).decode()
            for name, value in resource.connection_details.items()
        }
    if resource.ready:
        shown["ready"] = float(resource.ready)
    return shown
