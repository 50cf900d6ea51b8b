"""The `environment` of a Composition in `mode: Resources`, as Crossplane 1.x up to 1.17 had it.

EnvironmentConfigs are selected and merged as function-environment-configs does it, in the same call; then the
templates are composed by patches that may also read and write the environment.
"""

from __future__ import annotations

from crossply.compose.messages import Request, Response
from crossply.compose.requirements import is_fatal
from crossply.functions.builtin import environment_configs
from crossply.functions.builtin.patch_and_transform.composing import compose
from crossply.functions.builtin.patch_and_transform.native import NATIVE, render
from crossply.functions.builtin.patch_and_transform.patch_types import COMPOSED_ROUTES
from crossply.functions.builtin.patch_and_transform.plan_cache import PlanCache
from crossply.functions.builtin.patch_and_transform.shapes import native_resources_and_environment
from crossply.values import Object

_plans = PlanCache(
    NATIVE._replace(
        shape=native_resources_and_environment(),
        patch_types=frozenset({*COMPOSED_ROUTES, "PatchSet"}),
        has_environment=True,
    )
)


def run_with_environment(request: Request, environment: Object) -> Response:
    """Compose the resources once the environment is complete; until then, ask for what it is made of."""
    selected = environment_configs.run(_with(request, _selection(environment), request.context))
    asked = selected.requirements.resources if selected.requirements is not None else {}
    if is_fatal(selected) or any(name not in request.required_resources for name in asked):
        return selected
    composed = compose(_with(request, request.input, selected.context), _plans.find(request.input), render)
    return composed._replace(requirements=selected.requirements)


def _selection(environment: Object) -> Object:
    """The input of function-environment-configs; the patches and when to resolve are not part of it."""
    spec: Object = {
        key: environment[key] for key in ("defaultData", "environmentConfigs") if key in environment
    }
    policy = environment.get("policy")
    if isinstance(policy, dict) and "resolution" in policy:
        spec["policy"] = {"resolution": policy["resolution"]}
    return {"apiVersion": "environmentconfigs.fn.crossplane.io/v1beta1", "kind": "Input", "spec": spec}


def _with(request: Request, given: Object | None, context: Object | None) -> Request:
    return Request(
        request.observed,
        request.desired,
        input=given,
        context=context,
        required_resources=request.required_resources,
        capabilities=request.capabilities,
        tag=request.tag,
    )
