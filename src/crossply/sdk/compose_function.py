"""A function that is nothing but `compose(req, rsp)`, as function-python and projects of `up` have it.

It gets the messages of the published SDK: the request, and a response to it that it changes.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import Parameter, isfunction, signature
from typing import Any

NAME = "compose"
_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def is_compose_function(value: Any) -> bool:
    """Whether something can be called with a request and a response."""
    if not isfunction(value):
        return False
    parameters = signature(value).parameters.values()
    needed = [parameter for parameter in parameters if parameter.default is Parameter.empty]
    return len(needed) == 2 and all(parameter.kind in _POSITIONAL for parameter in needed)


class ComposeServicer:
    """Such a function as a class of the published SDK."""

    def __init__(self, compose: Callable[[Any, Any], Any]) -> None:
        self._compose = compose
        self._response = import_module("crossplane.function.response")

    def RunFunction(self, request: Any, context: Any) -> Any:  # noqa: N802 - the protocol's own name
        """Answer a request."""
        response = self._response.to(request)
        self._compose(request, response)
        return response
