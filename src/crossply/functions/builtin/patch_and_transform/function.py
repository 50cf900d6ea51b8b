"""function-patch-and-transform as Crossplane ships it."""

from __future__ import annotations

from crossply.compose.messages import READY_TRUE, READY_UNSPECIFIED, Request, Resource, Response
from crossply.functions.builtin.patch_and_transform.composing import Run, compose
from crossply.functions.builtin.patch_and_transform.dialect import FUNCTION
from crossply.functions.builtin.patch_and_transform.failure import REASONS, Failure, Fatal, is_not_found
from crossply.functions.builtin.patch_and_transform.identity import adopt
from crossply.functions.builtin.patch_and_transform.patch_types import TO_COMPOSED
from crossply.functions.builtin.patch_and_transform.patches import Patch
from crossply.functions.builtin.patch_and_transform.plan import COUNTED_TEXT, Template
from crossply.functions.builtin.patch_and_transform.plan_cache import PlanCache
from crossply.values import Object
from crossply.values.deepcopy import deepcopy
from crossply.values.goquote import quote

_plans = PlanCache(FUNCTION)
_MANY_BYTES = 64 << 10


def run(request: Request) -> Response:
    """Compose the resources of the step's input."""
    return compose(request, _plans.find(request.input), _render)


def _render(run: Run, template: Template) -> None:
    """Compose one resource. It is left out while a patch to it lacks a field that it requires."""
    desired = _start(run, template)
    observed = run.observed.get(template.name)
    ready = READY_UNSPECIFIED
    if observed is not None:
        adopt(desired, observed.object)
        if template.extract is not None:
            run.details.update(template.extract(observed.object, observed.connection_details))
        if _is_ready(run, template, observed.object):
            ready = READY_TRUE
    if _patch(run, template, desired, None if observed is None else observed.object):
        run.desired[template.name] = Resource(desired, {}, ready)
    else:
        run.skipped += 1


def _start(run: Run, template: Template) -> Object:
    """The object to start from: the base, else what an earlier step wants, which is left as it is."""
    if template.start is not None:
        return template.start()
    earlier = run.desired.get(template.name)
    if earlier is None:
        raise Fatal(
            f"composed resource {quote(template.name)} has no base template, "
            "and was not produced by a previous Function in the pipeline"
        )
    copied: Object = deepcopy(earlier.object)
    return copied


def _is_ready(run: Run, template: Template, observed: Object) -> bool:
    try:
        return template.is_ready(observed)
    except Failure as reason:
        run.warn(f"cannot check readiness of composed resource {quote(template.name)}: {reason}")
        return False


def _patch(run: Run, template: Template, desired: Object, observed: Object | None) -> bool:
    """Run the patches in their order; False when the resource must not be made yet."""
    sources = (run.xr, run.environment, observed)
    targets = (desired, run.composite, run.environment)
    added = 0
    for patch in template.patches:
        _, source, target, _, apply, copies_xr = patch
        origin = sources[source]
        if origin is None:
            continue  # it will be patched from once it exists
        try:
            written = apply(origin, targets[target])
        except REASONS as reason:
            if _blocks(run, template, patch, reason, exists=observed is not None):
                return False
            continue
        if type(written) is str:
            if len(written) <= COUNTED_TEXT:
                continue  # it is counted already, with the plan
            added += len(written)
        elif type(written) is dict or type(written) is list:
            added += (copies_xr and run.xr_size) or run.copied(written)
        else:
            continue
        if added > _MANY_BYTES:
            run.add(added, template.name, desired)
            added = 0
    if added:
        run.added += added
        if run.added > run.measure_at:
            run.measure(template.name, desired)
    return True


def _blocks(run: Run, template: Template, patch: Patch, reason: Exception, *, exists: bool) -> bool:
    """Say what a patch that failed means. Whether the field is there decides, and who needs it."""
    index = next(index for index, each in enumerate(template.patches) if each is patch)
    name, kind = quote(template.name), quote(patch.type)
    if not is_not_found(reason):
        raise Fatal(f"cannot render composed resource {name} {kind} patch at index {index}: {reason}")
    if patch.policy != "Required":
        return False
    if patch.target == TO_COMPOSED and not exists:
        run.warn(
            f"not adding new composed resource {name} to desired state because {kind} patch at index {index} "
            f"has 'policy.fromFieldPath: Required': {reason}"
        )
        return True
    run.warn(
        f"cannot render composed resource {name} {kind} patch at index {index}: "
        f"ignoring 'policy.fromFieldPath: Required' because 'to' resource already exists: {reason}"
    )
    return False
