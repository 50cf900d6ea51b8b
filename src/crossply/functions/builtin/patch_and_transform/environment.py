"""The environment: an object that the steps of a pipeline share through the context."""

from __future__ import annotations

from crossply.functions.builtin.patch_and_transform.identity import text_field
from crossply.values import Object
from crossply.values.deepcopy import deepcopy

KEY = "apiextensions.crossplane.io/environment"
"""Where the context keeps the environment."""


def load(context: Object | None) -> Object:
    """The environment of a context, as an object of its own, with a kind."""
    given = context.get(KEY) if context else None
    environment: Object = deepcopy(given) if type(given) is dict else {}
    if _is_untyped(environment):
        environment["apiVersion"] = "internal.crossplane.io/v1alpha1"
        environment["kind"] = "Environment"
    return environment


def _is_untyped(environment: Object) -> bool:
    version = text_field(environment, "apiVersion")
    if version.count("/") > 1:
        return True
    return not text_field(environment, "kind") and version in ("", "/")


def stored(context: Object | None, environment: Object) -> Object:
    """A context that holds the environment, and what it held before."""
    return {**(context or {}), KEY: environment}
