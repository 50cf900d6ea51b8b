"""What a step may say to starlark: `starlark.fn.crossplane.io/v1alpha1`.

`kind: StarlarkInput` with `spec.source` is the published function's: a script that calls `Resource(…)`.
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
_SHAPE = struct(
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
    """A step's input, read."""

    source: str
    modules: dict[str, str]
    defines_main: bool
    """Whether the script is a function of a request, and not a list of calls."""
    usage_version: str
    sequencing_ttl: int

    @property
    def file(self) -> str:
        """What error messages call the script."""
        return "script.star" if self.defines_main else "composition.star"


def read_input(request: Request) -> Input:
    """The function's input; InputError says what is wrong with it."""
    given = decode(request, _SHAPE, _GO_TYPE)
    if given.get("script"):
        return Input(given["script"], given.get("modules", {}), True, "", _SEQUENCING_TTL)
    spec = given.get("spec", {})
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
