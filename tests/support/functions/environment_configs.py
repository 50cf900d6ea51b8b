"""Steps of environment-configs: its sources, what was fetched for them, and what came of it."""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import (
    SEVERITY_FATAL,
    Request,
    Resource,
    ResourceSelector,
    Response,
    State,
)
from crossply.functions.builtin.environment_configs import function as environment_configs
from crossply.functions.builtin.environment_configs.function import CONTEXT_KEY

XR = {"apiVersion": "example.org/v1", "kind": "XApp", "spec": {"team": "a", "size": 3.0}}
KIND = {"apiVersion": "internal.crossplane.io/v1alpha1", "kind": "Environment"}


def config(name: str, data: Any = None, **rest: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": data if data is not None else {}, **rest}


def reference(name: str = "base", **rest: Any) -> dict[str, Any]:
    return {"type": "Reference", "ref": {"name": name}, **rest}


def selector(*matchers: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"type": "Selector", "selector": {"matchLabels": list(matchers), **rest}}


def value(key: str = "tier", label: str = "base") -> dict[str, Any]:
    return {"type": "Value", "key": key, "value": label}


def run(
    *sources: Any, fetched: list[list[dict[str, Any]]] | None = None, context: Any = None, **spec: Any
) -> Response:
    """Run the step; `found` is what the engine fetched for each source, None before it has."""
    required = {
        f"environment-config-{index}": tuple(map(Resource, group))
        for index, group in enumerate(fetched or [])
    }
    return environment_configs.run(
        Request(
            State(Resource(XR)),
            input={"spec": {"environmentConfigs": list(sources), **spec}},
            required_resources=required,
            context=context,
        )
    )


def environment(response: Response) -> dict[str, Any]:
    assert response.results == ()
    assert response.context is not None
    data: dict[str, Any] = response.context[CONTEXT_KEY]
    return {key: item for key, item in data.items() if key not in KIND}


def failure(response: Response) -> str:
    (result,) = response.results
    assert result.severity == SEVERITY_FATAL
    return result.message


def requirements(response: Response) -> dict[str, ResourceSelector]:
    assert response.requirements is not None
    return response.requirements.resources
