"""The metadata of the packages of a provider family: one template with variables for each service."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from crossply.cli.framework.command import Invocation
from crossply.errors import CrossplyError
from crossply.values.goformat import sprintf
from crossply.values.goquote import quote
from crossply.xpkg.failures import BuildFailed

if TYPE_CHECKING:
    from crossply.functions.builtin.go_templating.engine.signatures import Function
    from crossply.xpkg.package_directory import File

_NOT_LOADED = "failed to load service metadata file; check the file path and YAML syntax"
_NOT_VALID = "smaller provider metadata template is not valid"
_LARGEST = 16 << 20
_SCALARS = (str, bool, int, float, type(None))


class MetadataError(BuildFailed):
    """The template for the metadata of packages, or a variable for it, is invalid."""

    code = "CP-583"


Variables = Mapping[str, Any]


def service_variables(path: str) -> dict[str, Variables]:
    """The variables of each service in a file."""
    from crossply.values.protobuf_struct import to_wire
    from crossply.values.yaml import read_first

    if not path:
        return {}
    try:
        value = read_first(_read(path, _NOT_LOADED)).value or {}
    except CrossplyError as problem:
        raise problem if isinstance(problem, MetadataError) else problem.within(_NOT_LOADED) from None
    if not isinstance(value, dict):
        raise MetadataError(f"{_NOT_LOADED}: it is not a map of services", place=path)
    # Numbers are doubles here, as they are for a function.
    return {service: to_wire(_checked(service, fields, path)) for service, fields in value.items() if fields}


def _checked(service: str, fields: Any, path: str) -> Variables:
    prefix = f"invalid service metadata (service {quote(service)})"
    if not isinstance(fields, dict):
        raise MetadataError(f"{prefix}: it is not a map of variables", place=path)
    for name, value in fields.items():
        items = value if isinstance(value, list) else [value]
        if not all(isinstance(item, _SCALARS) for item in items):
            raise MetadataError(
                f"{prefix}: variable {quote(name)}: a variable is a scalar or a list of scalars",
                place=path,
                hint="write what is nested as a text, for example after a |",
            )
    return fields


class Metadata:
    """Describes packages by a template."""

    def __init__(self, invocation: Invocation) -> None:
        self._path = str(invocation["package-metadata-template"])
        self._variables: dict[str, str] = invocation["template-var"]
        self._of_services = service_variables(invocation["service-metadata"] or "")

    def file(self, service: str, repository: str) -> File:
        """The crossplane.yaml of a service's package."""
        from crossply.functions.builtin.go_templating.engine.errors import ExecError, ParseError
        from crossply.functions.builtin.go_templating.engine.nodes import Source
        from crossply.functions.builtin.go_templating.program import compile_source
        from crossply.xpkg.package_directory import File

        variables = {
            "Service": service,
            "Name": repository,
            **self._of_services.get(service, {}),
            **self._variables,
        }
        text = _read(self._path, _NOT_VALID).decode("utf-8", "replace")
        try:
            program = compile_source(Source(os.path.basename(self._path), text), _functions())
            return File(self._path, program.render(variables).encode())
        except ParseError as problem:
            raise MetadataError(f"{_NOT_VALID}: {problem}", place=self._path) from None
        except ExecError as problem:
            shown = sprintf("%v", [variables])
            prefix = f"failed to execute the provider metadata template using: {shown}"
            raise MetadataError(f"{prefix}: {problem}", place=self._path) from None


def _read(path: str, prefix: str) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise MetadataError(f"{prefix}: open {path}: {reason}", hint="check the path") from None
    if len(data) > _LARGEST:
        raise MetadataError(f"{prefix}: {path} is larger than {_LARGEST} bytes")
    return data


def _functions() -> dict[str, Function]:
    """What templates can call: Go's own functions, and three for YAML."""
    from crossply.functions.builtin.go_templating.engine import builtin_functions as builtins
    from crossply.functions.builtin.go_templating.engine.signatures import ANY, Function

    return {
        **builtins.FUNCTIONS,
        "dict": Function(_dict, (ANY,), variadic=True),
        "indent": Function(_indent, ("int", "string")),
        "toYAML": Function(_to_yaml, (ANY,)),
    }


def _dict(*pairs: Any) -> dict[str, Any]:
    from crossply.functions.builtin.go_templating.engine.signatures import FunctionFailed

    if len(pairs) % 2:
        raise FunctionFailed("dict: requires an even number of arguments")
    for position in range(0, len(pairs), 2):
        if not isinstance(pairs[position], str):
            raise FunctionFailed(f"dict: argument {position} must be a string key")
    return dict(zip(pairs[::2], pairs[1::2], strict=True))


def _indent(spaces: int, text: str) -> str:
    from crossply.functions.builtin.go_templating.sprig.text_layout import indent

    return indent(spaces, text) if text else ""


def _to_yaml(value: Any) -> str:
    from crossply.functions.builtin.go_templating.yaml_encoder import to_yaml

    return to_yaml(value).removesuffix("\n")
