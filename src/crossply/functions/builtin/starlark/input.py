"""The input of starlark: `starlark.fn.crossplane.io/v1alpha1`.

`kind: StarlarkInput` with `spec.source` is that of the published function: a script that calls `Resource(…)`.
`kind: StarlarkScript` with `script` is a script that defines `main(req)`.
"""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.messages import SECOND, Request
from crossply.functions.builtin.input_decoder import OBJECT, InputError, array, decode, mapping, struct, text
from crossply.values import Object
from crossply.values.durations import parse_duration

__all__ = ["Input", "InputError", "read_input"]

_SPEC = struct(
    "v1alpha1.StarlarkInputSpec",
    {
        "source": text(),
        "modules": mapping("map[string]string", text(), ""),
        "usageAPIVersion": text(),
        "sequencingTTL": text(),
        "scriptConfigRef": struct("v1alpha1.ScriptConfigRef", {"name": text(), "key": text()}),
        "modulePaths": array("[]string", text(), ""),
        "dockerConfigSecret": text(),
        "dockerConfigCredential": text(),
        "ociDefaultRegistry": text(),
        "ociInsecureRegistries": array("[]string", text(), ""),
    },
)
_GO_TYPE = "v1alpha1.StarlarkInput"
_INPUT = struct(
    _GO_TYPE,
    {
        **OBJECT,
        "spec": _SPEC,
        "script": text(),
        "modules": mapping("map[string]string", text(), ""),
    },
)
_SEQUENCING_TTL = 10 * SECOND


class Input(NamedTuple):
    """The decoded input of a step."""

    source: str
    modules: dict[str, str]
    defines_main: bool
    """Whether the script defines `main`, instead of calling `Resource`."""
    usage_version: str
    sequencing_ttl: int

    @property
    def file(self) -> str:
        """The file name of the script in error messages."""
        return "script.star" if self.defines_main else "composition.star"


def read_input(request: Request) -> Input:
    decoded = decode(request, _INPUT, _GO_TYPE)
    if decoded.get("script"):
        return Input(decoded["script"], decoded.get("modules", {}), True, "", _SEQUENCING_TTL)
    spec = decoded.get("spec", {})
    if not spec.get("source"):
        if "scriptConfigRef" in spec:
            raise InputError("spec.scriptConfigRef is not supported: put the script into spec.source")
        raise InputError("spec.source is required")
    modules = spec.get("modules", {})
    return Input(spec["source"], modules, False, spec.get("usageAPIVersion", ""), _ttl(spec))


def _ttl(spec: Object) -> int:
    duration = spec.get("sequencingTTL")
    if not duration:
        return _SEQUENCING_TTL
    try:
        return parse_duration(duration)
    except ValueError as error:
        raise InputError(f"invalid spec.sequencingTTL: {error}") from None
