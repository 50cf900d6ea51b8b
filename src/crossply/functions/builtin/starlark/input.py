"""The input of starlark: `starlark.fn.crossplane.io/v1alpha1`.

`kind: StarlarkInput` with `spec.source` is that of the published function: a script that calls `Resource(…)`.
`kind: StarlarkScript` with `script` is a script that defines `main(req)`.
"""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.function_messages import Request
from crossply.functions.builtin.input_decoder import OBJECT, InputError, array, decode, mapping, struct, text
from crossply.values import Object

__all__ = ["Input", "InputError", "ScriptReference", "read_input"]

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
_DEFAULT_KEY = "main.star"


class ScriptReference(NamedTuple):
    """A script in a ConfigMap."""

    name: str
    key: str


class Input(NamedTuple):
    """The decoded input of a step."""

    source: str
    modules: dict[str, str]
    defines_main: bool = False
    """Whether the script defines `main`, instead of calling `Resource`."""
    reference: ScriptReference | None = None
    """Where the script is, if it is not in the input."""
    module_paths: tuple[str, ...] = ()
    usage_version: str = ""
    sequencing_ttl: str = ""
    """For how long a response holds while something waits, as a duration of Go."""
    default_registry: str = ""
    plain_http: tuple[str, ...] = ()
    """Registries that are accessed without TLS."""
    credential: str = ""
    """The credential of the step with logins of registries."""

    @property
    def file(self) -> str:
        """The file name of the script in error messages."""
        if self.defines_main:
            return "script.star"
        return self.reference.key if self.reference and not self.source else "composition.star"


def read_input(request: Request) -> Input:
    decoded = decode(request, _INPUT, _GO_TYPE)
    if decoded.get("script"):
        return Input(decoded["script"], decoded.get("modules", {}), defines_main=True)
    spec: Object = decoded.get("spec", {})
    reference = spec.get("scriptConfigRef")
    return Input(
        spec.get("source", ""),
        spec.get("modules", {}),
        reference=None
        if reference is None
        else ScriptReference(reference.get("name", ""), reference.get("key") or _DEFAULT_KEY),
        module_paths=tuple(spec.get("modulePaths", ())),
        usage_version=spec.get("usageAPIVersion", ""),
        sequencing_ttl=spec.get("sequencingTTL", ""),
        default_registry=spec.get("ociDefaultRegistry", ""),
        plain_http=tuple(spec.get("ociInsecureRegistries", ())),
        credential=spec.get("dockerConfigCredential", ""),
    )
