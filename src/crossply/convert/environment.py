"""The environment of a Composition becomes a step of function-environment-configs.

Up to Crossplane 1.17 the engine itself selected and merged EnvironmentConfigs by `spec.environment`.
"""

from __future__ import annotations

from typing import Any

from crossply.convert.conversion_result import ConversionError, Converted, Move, Path, require_composition
from crossply.kinds.composition_defaults import PIPELINE
from crossply.kinds.gostructs import DecodeError, GoType, json_kind, list_of, round_trip
from crossply.values import Object
from crossply.values.field_path import PathNotFound, get

FUNCTION = "function-environment-configs"
STEP = "environment-configs"
_PIPELINE: Path = ("spec", "pipeline")


def environment_to_function(composition: Object, function: str) -> Converted | None:
    """A Composition whose first step selects its environment; None when it has none to select."""
    spec = require_composition(composition)
    if spec.get("mode") != PIPELINE:
        raise ConversionError(
            "Composition is using Resources mode, run pipeline-composition command instead",
            hint="crossply composition convert pipeline-composition converts both",
        )
    settings = _settings(spec.get("environment"))
    if not settings:
        return None
    steps = _steps(composition)
    step = {
        "step": STEP,
        "functionRef": {"name": function or FUNCTION},
        "input": {
            "apiVersion": "environmentconfigs.fn.crossplane.io/v1beta1",
            "kind": "Input",
            "spec": settings,
        },
    }
    new_spec = {key: value for key, value in spec.items() if key != "environment"}
    value = {**composition, "spec": {**new_spec, "pipeline": [step, *steps]}}
    return Converted(value, (_moves(len(steps)),), _left_out(spec["environment"]))


def _settings(environment: Any) -> Object:
    """The function's input, without patches and resolve policy."""
    if not isinstance(environment, dict):
        return {}
    settings = {key: environment[key] for key in ("defaultData", "environmentConfigs") if key in environment}
    policy = environment.get("policy")
    resolution = policy.get("resolution") if isinstance(policy, dict) else None
    if isinstance(resolution, str):
        settings["policy"] = {"resolution": resolution}
    return settings


def _left_out(environment: Object) -> tuple[str, ...]:
    """The resolve policy, unless it is the only one that the function has: to select at each run."""
    policy = environment.get("policy")
    resolve = policy.get("resolve") if isinstance(policy, dict) else None
    return () if resolve in (None, "Always") else ("spec.environment.policy.resolve",)


def _steps(composition: Object) -> list[Object]:
    try:
        steps: list[Object] | None = round_trip(get(composition, "spec.pipeline"), list_of(_OBJECT))
    except (PathNotFound, DecodeError) as problem:
        raise ConversionError(f"failed to get pipeline: {problem}") from None
    return steps or []


def _moves(steps: int) -> tuple[Move, ...]:
    shifted = [((*_PIPELINE, index), (*_PIPELINE, index + 1)) for index in range(steps)]
    return ((("spec", "environment"), (*_PIPELINE, 0, "input", "spec")), *shifted)


def _object(value: Any) -> Any:
    if value is not None and not isinstance(value, dict):
        raise DecodeError(json_kind(value), _OBJECT.name)
    return value or {}


_OBJECT = GoType("map[string]interface {}", _object)
