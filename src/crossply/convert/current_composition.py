"""Convert a Composition of any form to a pipeline of functions."""

from __future__ import annotations

from typing import NamedTuple

from crossply.convert.conversion_result import GROUP, Converted, Move, require_composition
from crossply.convert.environment import FUNCTION as ENVIRONMENT_CONFIGS
from crossply.convert.environment import environment_to_function
from crossply.convert.pipeline import FUNCTION as PATCH_AND_TRANSFORM
from crossply.convert.pipeline import resources_to_pipeline
from crossply.kinds.composition_defaults import PIPELINE, composition_mode
from crossply.values import Object


class FunctionNames(NamedTuple):
    """The names of the functions in the control plane."""

    patch_and_transform: str = PATCH_AND_TRANSFORM
    environment_configs: str = ENVIRONMENT_CONFIGS


def current_composition(composition: Object, names: FunctionNames) -> Converted | None:
    """The Composition as a pipeline; None when it is one already and there is nothing to do."""
    result = Converted(composition)
    for conversion in (
        from_to_resources,
        _change_version,
        lambda value: resources_to_pipeline(value, names.patch_and_transform),
        _write_out_mode,
        lambda value: _move_environment(value, names.environment_configs),
    ):
        converted = conversion(result.value)
        if converted is not None:
            result = result.then(converted)
    return result if result.rounds else None


def _change_version(composition: Object) -> Converted | None:
    """The Composition in version v1, which has all that the versions of the designs have."""
    require_composition(composition)
    if composition["apiVersion"] == _CURRENT:
        return None
    return Converted({**composition, "apiVersion": _CURRENT}, ((),))


_CURRENT = f"{GROUP}/v1"


def _write_out_mode(composition: Object) -> Converted | None:
    """The pipeline with its mode, without which Crossplane's tools do not take it for a pipeline."""
    spec = require_composition(composition)
    if spec.get("mode") or composition_mode(spec) != PIPELINE:
        return None
    return Converted({**composition, "spec": {**spec, "mode": PIPELINE}}, ((),))


def _move_environment(composition: Object, function: str) -> Converted | None:
    if composition_mode(require_composition(composition)) != PIPELINE:
        return None
    return environment_to_function(composition, function)


_MOVES: tuple[Move, ...] = (
    (("spec", "from"), ("spec", "compositeTypeRef")),
    (("spec", "to"), ("spec", "resources")),
)


def from_to_resources(composition: Object) -> Converted | None:
    """The Composition with `compositeTypeRef` and `resources`; None when it is not of the first design."""
    spec = require_composition(composition)
    if "from" not in spec and "to" not in spec:
        return None
    new_spec = {key: value for key, value in spec.items() if key not in ("from", "to")}
    for old, new in (("from", "compositeTypeRef"), ("to", "resources")):
        if old in spec:
            new_spec.setdefault(new, spec[old])
    value = {**composition, "apiVersion": f"{GROUP}/v1", "spec": new_spec}
    return Converted(value, (_MOVES,))
