"""Templates of a Composition in `mode: Resources`, as Crossplane 1.x composed them itself.

The engine wraps the templates of such a Composition into the input of this function, so that they run in a
pipeline like everything else. The semantics differ slightly from function-patch-and-transform: whole numbers
are integers, fields have defaults, and a resource that cannot be rendered does not stop the others.

Compositions of Crossplane 1.11 to 1.17 may also have an `environment`: `resources_mode_environment` selects
it in the same call, before the templates are rendered. Patches to it read the resource as it is desired so
far, so that the resources after it can use what they write.
"""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.function_messages import (
    READY_FALSE,
    READY_TRUE,
    READY_UNSPECIFIED,
    Request,
    Requirements,
    Resource,
    Response,
    State,
    fatal,
    respond,
)
from crossply.compose.requirements import is_fatal
from crossply.functions.builtin.patch_and_transform.compiled_input import CompiledTemplate
from crossply.functions.builtin.patch_and_transform.compiled_input_cache import CompiledInputCache
from crossply.functions.builtin.patch_and_transform.compiled_input_run import (
    RenderState,
    render_response,
    with_environment,
)
from crossply.functions.builtin.patch_and_transform.dialect import (
    COMPOSED_ROUTES,
    ENVIRONMENT_ROUTES,
    MERGE_POLICIES,
    STRING_TYPES,
    TO_COMPOSED,
    TO_COMPOSITE,
    TO_ENVIRONMENT,
    Dialect,
    join,
)
from crossply.functions.builtin.patch_and_transform.errors import FAILURES, Failure, Fatal, is_not_found
from crossply.functions.builtin.patch_and_transform.input_schema import native_resources
from crossply.functions.builtin.patch_and_transform.object_fields import adopt, text_field
from crossply.functions.builtin.patch_and_transform.patches import Patch
from crossply.functions.builtin.patch_and_transform.resources_mode_defaults import set_defaults
from crossply.functions.reply_limits import copy_size
from crossply.kinds.composition_native_step import ENVIRONMENT_REFERENCES
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
    patch_types=frozenset({*COMPOSED_ROUTES, "PatchSet"}),
    string_types=STRING_TYPES - {"Replace"},
    merge_policies=MERGE_POLICIES,
    needs_patterns=False,
    join=join,
    join_error="cannot join non-array values",
    native_numbers=True,
    environment_routes=ENVIRONMENT_ROUTES,
    has_environment=False,
    set_defaults=set_defaults,
)
"""Crossplane's own `mode: Resources`, as of v1.20, with the environment patches that it had up to v1.17."""

_PRESERVED_METADATA = ("name", "namespace", "labels", "annotations")
COMPILED_INPUTS = CompiledInputCache(NATIVE)


def run_native(request: Request) -> Response:
    environment = (request.input or {}).get("environment")
    if isinstance(environment, dict):
        return _run_with_environment(request, environment)
    return render_response(request, COMPILED_INPUTS.get(request.input), render)


def _run_with_environment(request: Request, written: Object) -> Response:
    """Compose the resources once the environment is fetched; until then, require its EnvironmentConfigs."""
    prepared = prepare_environment(request, written)
    if isinstance(prepared, Response):
        return prepared
    response = render_response(prepared.request, COMPILED_INPUTS.get(request.input), render)
    if prepared.references and not is_fatal(response):
        response = response._replace(desired=_keeping(response.desired, prepared.references))
    return response._replace(requirements=prepared.requirements)


class PreparedRequest(NamedTuple):
    """A request with its environment in the context."""

    request: Request
    requirements: Requirements
    references: tuple[str, ...]
    """The names of the configs for the XR to keep."""


def prepare_environment(request: Request, written: Object) -> PreparedRequest | Response:
    """Select the environment; the response is one that requires configs, or that says why there is none."""
    # Not imported where there is no environment.
    from crossply.functions.builtin.patch_and_transform.resources_mode_environment import NativeEnvironment

    requirements = Requirements()
    try:
        environment = NativeEnvironment(request, written)
        requirements = Requirements(resources=environment.requirements())
        if not environment.is_fetched():
            return respond(request, requirements=requirements)
        selected = environment.select()
    except Fatal as error:
        return fatal(request, str(error))._replace(requirements=requirements)
    context = with_environment(request.context, environment.merge(chosen.config for chosen in selected))
    references = tuple(chosen.name for chosen in selected) if environment.keeps_selection else ()
    return PreparedRequest(_with_context(request, context), requirements, references)


def _with_context(request: Request, context: Object) -> Request:
    return Request(
        request.observed,
        request.desired,
        input=request.input,
        context=context,
        required_resources=request.required_resources,
        capabilities=request.capabilities,
        tag=request.tag,
    )


def _keeping(desired: State | None, references: tuple[str, ...]) -> State:
    """The desired state with an XR that keeps the names of its configs."""
    assert desired is not None, "what was rendered has a desired state"
    assert desired.composite is not None, "and a desired XR"
    metadata = {"annotations": {ENVIRONMENT_REFERENCES: ",".join(references)}}
    composite = desired.composite._replace(object={**desired.composite.object, "metadata": metadata})
    return State(composite, desired.resources)


def render(state: RenderState, template: CompiledTemplate) -> None:
    assert template.start is not None, "a template without a base is not valid here"
    desired = template.start()
    observed = state.observed.get(template.name)
    if observed is not None:
        _require_same_kind(template, desired, observed.object)
        adopt(desired, observed.object)
    try:
        _patch_composed(state, template, desired)
    except Failure as error:
        patches = "FromComposite or environment patches" if state.environment else "FromComposite patches"
        state.warn(f"cannot render {patches} for composed resource {quote(template.name)}: {error}")
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
    """Patch the XR from the resource, collect its details, return whether it is ready."""
    name = quote(template.name)
    try:
        _patch_composite(state, template, observed.object)
    except Failure as error:
        raise Fatal(f"cannot render ToComposite patches for composed resource {name}: {error}") from None
    if template.extract_details is not None:
        state.details.update(template.extract_details(observed.object, observed.connection_details))
    try:
        return template.is_ready(observed.object)
    except Failure as error:
        raise Fatal(f"cannot check readiness of composed resource {name}: {error}") from None


def _patch_composed(state: RenderState, template: CompiledTemplate, desired: Object) -> None:
    """Patch the resource, and the environment from it, in the order of the patches."""
    sources = (state.xr, state.environment, desired)
    for index, patch in enumerate(template.patches):
        if patch.target == TO_COMPOSED:
            _apply(state, template, index, patch, sources[patch.source], desired)
        elif patch.target == TO_ENVIRONMENT:
            _apply(state, template, index, patch, desired, state.environment)


def _patch_composite(state: RenderState, template: CompiledTemplate, observed: Object) -> None:
    for index, patch in enumerate(template.patches):
        if patch.target == TO_COMPOSITE:
            _apply(state, template, index, patch, observed, state.composite)


def _apply(
    state: RenderState, template: CompiledTemplate, index: int, patch: Patch, source: Object, target: Object
) -> None:
    try:
        written = patch.apply(source, target)
    except FAILURES as error:
        if is_not_found(error) and patch.policy == "Optional":
            return
        raise Failure(f"cannot apply the {quote(patch.type)} patch at index {index}: {error}") from None
    state.add(copy_size(written), template.name, target if patch.target == TO_COMPOSED else None)


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
