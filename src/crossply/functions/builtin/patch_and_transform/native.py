"""Templates as Crossplane 1.x composed them itself, in `mode: Resources`.

The engine wraps the templates of such a Composition into the input of this function, so that they run in a
pipeline like everything else. They read like the input of function-patch-and-transform but mean something
slightly different: numbers are integers where they are whole, fields have defaults, and a resource that
cannot be rendered does not stop the others.
"""

from __future__ import annotations

from crossply.compose.messages import READY_FALSE, READY_TRUE, READY_UNSPECIFIED, Request, Resource, Response
from crossply.functions.builtin.patch_and_transform.composing import Run, compose
from crossply.functions.builtin.patch_and_transform.dialect import MERGE_POLICIES, STRING_TYPES, Dialect
from crossply.functions.builtin.patch_and_transform.failure import REASONS, Failure, Fatal, is_not_found
from crossply.functions.builtin.patch_and_transform.identity import adopt, text_field
from crossply.functions.builtin.patch_and_transform.joining import join
from crossply.functions.builtin.patch_and_transform.native_defaults import complete
from crossply.functions.builtin.patch_and_transform.patch_types import (
    TO_COMPOSED,
    TO_COMPOSITE,
    TO_ENVIRONMENT,
)
from crossply.functions.builtin.patch_and_transform.plan import Template
from crossply.functions.builtin.patch_and_transform.plan_cache import PlanCache
from crossply.functions.builtin.patch_and_transform.shapes import native_resources
from crossply.functions.reply_limits import copy_size
from crossply.values import Object
from crossply.values.goquote import quote

API_VERSION, KIND = "crossply.dev/v1alpha1", "NativeResources"
"""What the engine calls the input that it makes of a Composition's templates."""

NATIVE = Dialect(
    shape=native_resources(),
    undecodable="cannot read Composition: ",
    unacceptable="invalid Composition: spec.",
    patch_set_path="patchSets[{}].",
    nested_set_problem="",
    unresolvable="cannot inline Composition patch sets: ",
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
    not_a_list="cannot join non-array values",
    native_numbers=True,
    has_environment=False,
    complete=complete,
)
"""Crossplane's own `mode: Resources`, as of v1.20."""

_KEPT_METADATA = ("name", "namespace", "labels", "annotations")
_plans = PlanCache(NATIVE)


def run_native(request: Request) -> Response:
    """Compose the resources of a Composition in `mode: Resources`."""
    environment = (request.input or {}).get("environment")
    if not isinstance(environment, dict):
        return compose(request, _plans.find(request.input), render)
    from crossply.functions.builtin.patch_and_transform.native_environment import run_with_environment

    return run_with_environment(request, environment)


def render(run: Run, template: Template) -> None:
    """Compose one resource."""
    assert template.start is not None, "a template without a base is not valid here"
    desired = template.start()
    observed = run.observed.get(template.name)
    if observed is not None:
        _require_same_kind(template, desired, observed.object)
        adopt(desired, observed.object)
    try:
        _patch(run, template, TO_COMPOSED, None, desired)
    except Failure as reason:
        run.warn(
            f"cannot render FromComposite patches for composed resource {quote(template.name)}: {reason}"
        )
        _leave(run, template, observed)
        return
    ready = READY_UNSPECIFIED
    if observed is not None and _look_at(run, template, observed):
        ready = READY_TRUE
    run.desired[template.name] = Resource(desired, {}, ready)


def _leave(run: Run, template: Template, observed: Resource | None) -> None:
    """Leave a resource as it is: it must neither change nor vanish because its patches fail for now."""
    run.skipped += 1
    if observed is not None:
        run.desired[template.name] = Resource(_without_server_fields(observed.object), {}, READY_FALSE)


def _without_server_fields(observed: Object) -> Object:
    metadata = observed.get("metadata") or {}
    kept = {name: metadata[name] for name in _KEPT_METADATA if name in metadata}
    return {**{name: field for name, field in observed.items() if name != "status"}, "metadata": kept}


def _look_at(run: Run, template: Template, observed: Resource) -> bool:
    """Pass on to the XR what a resource tells, and say whether it is ready."""
    name = quote(template.name)
    try:
        _patch(run, template, TO_COMPOSITE, observed.object, run.composite)
        _patch(run, template, TO_ENVIRONMENT, observed.object, run.environment)
    except Failure as reason:
        raise Fatal(f"cannot render ToComposite patches for composed resource {name}: {reason}") from None
    if template.extract is not None:
        run.details.update(template.extract(observed.object, observed.connection_details))
    try:
        return template.is_ready(observed.object)
    except Failure as reason:
        raise Fatal(f"cannot check readiness of composed resource {name}: {reason}") from None


def _patch(run: Run, template: Template, direction: int, observed: Object | None, target: Object) -> None:
    sources = (run.xr, run.environment, observed)
    for index, patch in enumerate(template.patches):
        source = sources[patch.source]
        if patch.target != direction or source is None:
            continue
        try:
            written = patch.apply(source, target)
        except REASONS as reason:
            if is_not_found(reason) and patch.policy == "Optional":
                continue
            raise Failure(f"cannot apply the {quote(patch.type)} patch at index {index}: {reason}") from None
        run.add(copy_size(written), template.name, target if direction == TO_COMPOSED else None)


def _require_same_kind(template: Template, desired: Object, observed: Object) -> None:
    before, after = _kind(observed), _kind(desired)
    if before != after:
        raise Fatal(
            f"cannot parse base template of composed resource {quote(template.name)}: "
            f"cannot change the kind of a composed resource from {before} to {after} "
            "(possible composed resource template mismatch)"
        )


def _kind(obj: Object) -> str:
    group, _, version = text_field(obj, "apiVersion").rpartition("/")
    return f"{group}/{version}, Kind={text_field(obj, 'kind')}"
