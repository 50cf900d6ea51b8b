"""The input of kcl: `krm.kcl.dev/v1alpha1`, `kind: KCLInput`. As published, other kinds are accepted too."""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.compose.function_messages import Request
from crossply.functions.builtin.input_decoder import (
    OBJECT,
    array,
    boolean,
    decode,
    mapping,
    struct,
    text,
)
from crossply.values import Object

DEFAULT, XR = "Default", "XR"
RESOURCES, PATCH_DESIRED, PATCH_RESOURCES = "Resources", "PatchDesired", "PatchResources"
_TARGETS = (DEFAULT, XR, RESOURCES, PATCH_DESIRED, PATCH_RESOURCES)

_TEXTS = array("[]string", text(), "")
_CONFIG = struct(
    "v1alpha1.ConfigSpec",
    {
        **dict.fromkeys(("arguments", "settings", "overrides", "pathSelectors"), _TEXTS),
        **dict.fromkeys(
            ("vendor", "sortKeys", "showHidden", "disableNone", "debug", "strictRangeCheck"), boolean
        ),
    },
)
_SPEC = struct(
    "v1alpha1.RunSpec",
    {
        "source": text(),
        "config": _CONFIG,
        "credentials": struct("v1alpha1.CredSpec", dict.fromkeys(("url", "username", "password"), text())),
        "dependencies": text(),
        "params": mapping("map[string]runtime.RawExtension", lambda value: value, {}),
        "resources": array(
            "v1alpha1.ResourceList",
            struct("v1alpha1.Resource", {"name": text(), "base": lambda value: value}),
            {},
        ),
        "target": text("resource.Target"),
    },
)
_GO_TYPE = "v1alpha1.KCLInput"
_INPUT = struct(_GO_TYPE, {**OBJECT, "spec": _SPEC})


class InputInvalid(Exception):
    """The input can be decoded, but not used."""


class Input(NamedTuple):
    """The decoded input of a step."""

    source: str
    target: str
    params: Object
    config: Object
    dependencies: str
    credentials: dict[str, str]
    resources: tuple[tuple[str, Any], ...]
    """The names and base objects for `PatchResources`."""
    decoded: Object


def read_input(request: Request, default_source: str = "") -> Input:
    """The input of a request; raises InputError or InputInvalid."""
    decoded = decode(request, _INPUT, _GO_TYPE)
    spec: Object = decoded.get("spec", {})
    target = spec.get("target", DEFAULT)
    step_input = Input(
        spec.get("source") or default_source,
        target if target in _TARGETS else DEFAULT,
        spec.get("params", {}),
        spec.get("config", {}),
        spec.get("dependencies", ""),
        spec.get("credentials", {}),
        tuple((entry.get("name", ""), entry.get("base")) for entry in spec.get("resources", [])),
        decoded,
    )
    _validate(step_input)
    return step_input


def _validate(step_input: Input) -> None:
    if not step_input.source:
        raise _required("spec.source", "kcl source cannot be empty")
    if step_input.target != PATCH_RESOURCES:
        return
    if not step_input.resources:
        raise _required("spec.Resources", f"{PATCH_RESOURCES} target requires at least one resource")
    for index, (name, base) in enumerate(step_input.resources):
        if not name:
            raise _required(f"spec.Resources[{index}].name", "name cannot be empty")
        if base is None:
            raise _required(f"spec.Resources[{index}].base", "base cannot be empty")


def _required(path: str, problem: str) -> InputInvalid:
    return InputInvalid(f"{path}: Required value: {problem}")
