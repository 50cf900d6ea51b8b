"""Resource templates of a Composition become the input of function-patch-and-transform.

Up to Crossplane 1.x the engine itself patched and transformed (`mode: Resources`, the default then). The
function wants some things said that the engine took for granted; `patches` says them.
"""

from __future__ import annotations

from typing import Any

from crossply.convert.composition_type import require_composition
from crossply.convert.moves import ConversionError, Converted, Move, Path
from crossply.convert.patches import explicit_patch, explicit_template
from crossply.kinds.composition_defaults import PIPELINE, composition_mode
from crossply.values import Object

FUNCTION = "function-patch-and-transform"
STEP = "patch-and-transform"
_INPUT: Path = ("spec", "pipeline", 0, "input")
_MOVES: tuple[Move, ...] = (
    (("spec", "resources"), (*_INPUT, "resources")),
    (("spec", "patchSets"), (*_INPUT, "patchSets")),
    (("spec", "environment", "patches"), (*_INPUT, "environment", "patches")),
)


def resources_to_pipeline(composition: Object, function: str) -> Converted | None:
    """A Composition with one step that patches and transforms; None when it has no templates to move.

    Container functions have no counterpart in a pipeline, so they stay in `spec.functions`.
    """
    spec = require_composition(composition)
    if composition_mode(spec) == PIPELINE or not _has_templates(spec):
        return None
    step = {"step": STEP, "functionRef": {"name": function or FUNCTION}, "input": _input(spec)}
    moved = ("mode", "resources", "patchSets", "environment", "pipeline")
    kept = {key: value for key, value in spec.items() if key not in moved}
    environment = _without_patches(spec.get("environment"))
    if environment:
        kept["environment"] = environment
    value = {**composition, "spec": {**kept, "mode": PIPELINE, "pipeline": [step]}}
    return Converted(value, (_MOVES,))


def _has_templates(spec: Object) -> bool:
    return not spec.get("functions") or any(spec.get(field) for field in ("resources", "environment"))


def _input(spec: Object) -> Object:
    found: Object = {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources"}
    environment = spec.get("environment")
    if isinstance(environment, dict) and "patches" in environment:
        patches = objects_in(environment, "patches", "spec.environment")
        found["environment"] = {"patches": [explicit_patch(patch) for patch in patches]}
    if spec.get("patchSets") is not None:
        found["patchSets"] = [_patch_set(entry) for entry in objects_in(spec, "patchSets", "spec")]
    if spec.get("resources") is not None:
        templates = objects_in(spec, "resources", "spec")
        found["resources"] = [explicit_template(entry, index) for index, entry in enumerate(templates)]
    return found


def _patch_set(entry: Object) -> Object:
    return {
        **entry,
        "patches": [explicit_patch(patch) for patch in objects_in(entry, "patches", "patchSets")],
    }


def _without_patches(environment: Any) -> Object:
    if not isinstance(environment, dict):
        return {}
    return {key: value for key, value in environment.items() if key != "patches"}


def objects_in(value: Object, key: str, place: str) -> list[Object]:
    """A list of objects, or an error that says which field is none."""
    found = value.get(key) or []
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise ConversionError(f"{place}.{key} is not a list of objects")
    return found
