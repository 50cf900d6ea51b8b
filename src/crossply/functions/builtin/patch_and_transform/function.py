"""function-patch-and-transform as Crossplane ships it."""

from __future__ import annotations

from crossply.compose.function_messages import READY_TRUE, READY_UNSPECIFIED, Request, Resource, Response
from crossply.functions.builtin.patch_and_transform.compiled_input import COUNTED_TEXT, CompiledTemplate
from crossply.functions.builtin.patch_and_transform.compiled_input_cache import CompiledInputCache
from crossply.functions.builtin.patch_and_transform.compiled_input_run import RenderState, render_response
from crossply.functions.builtin.patch_and_transform.dialect import FUNCTION, TO_COMPOSED
from crossply.functions.builtin.patch_and_transform.errors import FAILURES, Failure, Fatal, is_not_found
from crossply.functions.builtin.patch_and_transform.object_fields import adopt
from crossply.functions.builtin.patch_and_transform.patches import Patch
from crossply.values import Object
from crossply.values.deepcopy import deepcopy
from crossply.values.goquote import quote

COMPILED_INPUTS = CompiledInputCache(FUNCTION)
_MANY_BYTES = 64 << 10


def run(request: Request) -> Response:
    return render_response(request, COMPILED_INPUTS.get(request.input), render)


def render(state: RenderState, template: CompiledTemplate) -> None:
    """Compose one resource, or skip it while a required source field of a patch is missing."""
    desired = _start(state, template)
    observed = state.observed.get(template.name)
    ready = READY_UNSPECIFIED
    if observed is not None:
        adopt(desired, observed.object)
        if template.extract_details is not None:
            state.details.update(template.extract_details(observed.object, observed.connection_details))
        if _is_ready(state, template, observed.object):
            ready = READY_TRUE
    if _patch(state, template, desired, None if observed is None else observed.object):
        state.desired[template.name] = Resource(desired, {}, ready)
    else:
        state.skipped += 1


def _start(state: RenderState, template: CompiledTemplate) -> Object:
    """A copy of the base, or of what an earlier step desires."""
    if template.start is not None:
        return template.start()
    earlier = state.desired.get(template.name)
    if earlier is None:
        raise Fatal(
            f"composed resource {quote(template.name)} has no base template, "
            "and was not produced by a previous Function in the pipeline"
        )
    copied: Object = deepcopy(earlier.object)
    return copied


def _is_ready(state: RenderState, template: CompiledTemplate, observed: Object) -> bool:
    try:
        return template.is_ready(observed)
    except Failure as error:
        state.warn(f"cannot check readiness of composed resource {quote(template.name)}: {error}")
        return False


def _patch(state: RenderState, template: CompiledTemplate, desired: Object, observed: Object | None) -> bool:
    """Apply the patches in order; False when the resource must not be created yet."""
    sources = (state.xr, state.environment, observed)
    targets = (desired, state.composite, state.environment)
    added = 0
    for patch in template.patches:
        _, source, target, _, apply, copies_xr = patch
        origin = sources[source]
        if origin is None:
            continue  # no observed resource yet
        try:
            written = apply(origin, targets[target])
        except FAILURES as error:
            if _is_blocking(state, template, patch, error, exists=observed is not None):
                return False
            continue
        if type(written) is str:
            if len(written) <= COUNTED_TEXT:
                continue  # counted already, in the size of the compiled input
            added += len(written)
        elif type(written) is dict or type(written) is list:
            added += (copies_xr and state.xr_size) or state.copied(written)
        else:
            continue
        if added > _MANY_BYTES:
            state.add(added, template.name, desired)
            added = 0
    if added:
        state.added += added
        if state.added > state.measure_at:
            state.measure(template.name, desired)
    return True


def _is_blocking(
    state: RenderState, template: CompiledTemplate, patch: Patch, error: Exception, *, exists: bool
) -> bool:
    """Report a failed patch: raise Fatal, warn, or ignore it. True when it blocks the resource."""
    index = next(index for index, candidate in enumerate(template.patches) if candidate is patch)
    name, kind = quote(template.name), quote(patch.type)
    if not is_not_found(error):
        raise Fatal(f"cannot render composed resource {name} {kind} patch at index {index}: {error}")
    if patch.policy != "Required":
        return False
    if patch.target == TO_COMPOSED and not exists:
        state.warn(
            f"not adding new composed resource {name} to desired state because {kind} patch at index {index} "
            f"has 'policy.fromFieldPath: Required': {error}"
        )
        return True
    state.warn(
        f"cannot render composed resource {name} {kind} patch at index {index}: "
        f"ignoring 'policy.fromFieldPath: Required' because 'to' resource already exists: {error}"
    )
    return False
