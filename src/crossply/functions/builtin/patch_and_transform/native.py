"""Templates of a Composition in `mode: Resources`, as Crossplane 1.x composed them itself.

The engine wraps the templates of such a Composition into the input of this function, so that they run in a
pipeline like everything else. The semantics differ slightly from function-patch-and-transform: whole numbers
are integers, fields have defaults, and a resource that cannot be rendered does not stop the others.

Compositions of Crossplane up to 1.17 may also have an `environment`. EnvironmentConfigs are then selected
and merged as function-environment-configs does it, in the same call, before the templates are rendered.
"""

from __future__ import annotations

from crossply.compose.messages import READY_FALSE, READY_TRUE, READY_UNSPECIFIED, Request, Resource, Response
from crossply.compose.requirements import is_fatal
from crossply.functions.builtin.patch_and_transform.compiled_input import CompiledTemplate
from crossply.functions.builtin.patch_and_transform.compiled_input_cache import CompiledInputCache
from crossply.functions.builtin.patch_and_transform.dialect import (
    COMPOSED_ROUTES,
    MERGE_POLICIES,
    STRING_TYPES,
    TO_COMPOSED,
    TO_COMPOSITE,
    TO_ENVIRONMENT,
    Dialect,
    join,
)
from crossply.functions.builtin.patch_and_transform.errors import FAILURES, Failure, Fatal, is_not_found
from crossply.functions.builtin.patch_and_transform.input_schema import (
    native_resources,
    native_resources_and_environment,
)
from crossply.functions.builtin.patch_and_transform.native_defaults import set_defaults
from crossply.functions.builtin.patch_and_transform.object_fields import adopt, text_field
from crossply.functions.builtin.patch_and_transform.renderer import RenderState, render_response
from crossply.functions.reply_limits import copy_size
from crossply.values import Object
from crossply.values.api_version import format_kind
from crossply.values.goquote import quote

API_VERSION, KIND = "crossply.dev/v1alpha1", "NativeResources"
"""The type of the input that the engine makes from a Composition's templates."""

NATIVE = Dialect(
    schema=native_resources(),
    decode_error_prefix="cannot read Composition: ",
    validation_error_prefix="invalid Composition: spec.",
    patch_set_path="patchSets[{}].",
    nested_patch_set_error="",
    patch_set_error_prefix="cannot inline Composition patch sets: ",
    patch_types=frozenset(
        {
            "FromCompositeFieldPath",
            "ToCompositeFieldPath",
            "CombineFromComposite",
            "CombineToComposite",
            "PatchSet",
        }
    ),
    string_types=STRING_TYPES - {"Replace"},
    merge_policies=MERGE_POLICIES,
    needs_patterns=False,
    join=join,
    join_error="cannot join non-array values",
    native_numbers=True,
    has_environment=False,
    set_defaults=set_defaults,
)
"""Crossplane's own `mode: Resources`, as of v1.20."""

_PRESERVED_METADATA = ("name", "namespace", "labels", "annotations")
_compiled_inputs = CompiledInputCache(NATIVE)
_environment_inputs = CompiledInputCache(
    NATIVE._replace(
        schema=native_resources_and_environment(),
        patch_types=frozenset({*COMPOSED_ROUTES, "PatchSet"}),
        has_environment=True,
    )
)


def run_native(request: Request) -> Response:
    environment = (request.input or {}).get("environment")
    if not isinstance(environment, dict):
        return render_response(request, _compiled_inputs.get(request.input), render)
    return _run_with_environment(request, environment)


def render(state: RenderState, template: CompiledTemplate) -> None:
    assert template.start is not None, "a template without a base is not valid here"
    desired = template.start()
    observed = state.observed.get(template.name)
    if observed is not None:
        _require_same_kind(template, desired, observed.object)
        adopt(desired, observed.object)
    try:
        _patch(state, template, TO_COMPOSED, None, desired)
    except Failure as error:
        state.warn(
            f"cannot render FromComposite patches for composed resource {quote(template.name)}: {error}"
        )
        _keep_observed(state, template, observed)
        return
    ready = READY_UNSPECIFIED
    if observed is not None and _read_observed(state, template, observed):
        ready = READY_TRUE
    state.desired[template.name] = Resource(desired, {}, ready)


def _keep_observed(state: RenderState, template: CompiledTemplate, observed: Resource | None) -> None:
    """Desire the resource as it is observed: failing patches must neither change nor delete it."""
    state.skipped += 1
    if observed is not None:
        state.desired[template.name] = Resource(_without_server_fields(observed.object), {}, READY_FALSE)


def _without_server_fields(observed: Object) -> Object:
    metadata = observed.get("metadata") or {}
    preserved = {name: metadata[name] for name in _PRESERVED_METADATA if name in metadata}
    return {**{name: field for name, field in observed.items() if name != "status"}, "metadata": preserved}


def _read_observed(state: RenderState, template: CompiledTemplate, observed: Resource) -> bool:
    """Patch the XR and the environment from the resource, collect its details, return whether it is ready."""
    name = quote(template.name)
    try:
        _patch(state, template, TO_COMPOSITE, observed.object, state.composite)
        _patch(state, template, TO_ENVIRONMENT, observed.object, state.environment)
    except Failure as error:
        raise Fatal(f"cannot render ToComposite patches for composed resource {name}: {error}") from None
    if template.extract_details is not None:
        state.details.update(template.extract_details(observed.object, observed.connection_details))
    try:
        return template.is_ready(observed.object)
    except Failure as error:
        raise Fatal(f"cannot check readiness of composed resource {name}: {error}") from None


def _patch(
    state: RenderState, template: CompiledTemplate, direction: int, observed: Object | None, target: Object
) -> None:
    sources = (state.xr, state.environment, observed)
    for index, patch in enumerate(template.patches):
        source = sources[patch.source]
        if patch.target != direction or source is None:
            continue
        try:
            written = patch.apply(source, target)
        except FAILURES as error:
            if is_not_found(error) and patch.policy == "Optional":
                continue
            raise Failure(f"cannot apply the {quote(patch.type)} patch at index {index}: {error}") from None
        state.add(copy_size(written), template.name, target if direction == TO_COMPOSED else None)


def _require_same_kind(template: CompiledTemplate, desired: Object, observed: Object) -> None:
    before, after = _kind(observed), _kind(desired)
    if before != after:
        raise Fatal(
            f"cannot parse base template of composed resource {quote(template.name)}: "
            f"cannot change the kind of a composed resource from {before} to {after} "
            "(possible composed resource template mismatch)"
        )


def _kind(obj: Object) -> str:
    return format_kind(text_field(obj, "apiVersion"), text_field(obj, "kind"))


def _run_with_environment(request: Request, environment: Object) -> Response:
    """Compose the resources once the environment is complete; until then, require its EnvironmentConfigs."""
    from crossply.functions.builtin.environment_configs import function as environment_configs

    selection = environment_configs.run(_with_input(request, _selection_input(environment), request.context))
    required = selection.requirements.resources if selection.requirements is not None else {}
    if is_fatal(selection) or any(name not in request.required_resources for name in required):
        return selection
    response = render_response(
        _with_input(request, request.input, selection.context),
        _environment_inputs.get(request.input),
        render,
    )
    return response._replace(requirements=selection.requirements)


def _selection_input(environment: Object) -> Object:
    """The input of function-environment-configs. It has no patches and no resolve policy."""
    spec: Object = {
        key: environment[key] for key in ("defaultData", "environmentConfigs") if key in environment
    }
    policy = environment.get("policy")
    if isinstance(policy, dict) and "resolution" in policy:
        spec["policy"] = {"resolution": policy["resolution"]}
    return {"apiVersion": "environmentconfigs.fn.crossplane.io/v1beta1", "kind": "Input", "spec": spec}


def _with_input(request: Request, function_input: Object | None, context: Object | None) -> Request:
    return Request(
        request.observed,
        request.desired,
        input=function_input,
        context=context,
        required_resources=request.required_resources,
        capabilities=request.capabilities,
        tag=request.tag,
    )
