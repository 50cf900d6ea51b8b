"""One request on its way through the server: what is asked, by whom, about which resource."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from crossply.apiserver.requests import RequestInfo, User
from crossply.apiserver.resources import Resource, Version
from crossply.apiserver.status import Cause, StatusError, bad_request
from crossply.values.gojson import dumps

MAX_MANAGER = 128
"""How many bytes the name of a field manager may have."""

_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"", "0", "f", "F", "FALSE", "false", "False"})


@dataclass(slots=True)
class Call:
    """A request about objects of one resource at one version."""

    info: RequestInfo
    user: User
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    resource: Resource
    version: Version
    warnings: list[str] = field(default_factory=list)
    """Said to the client in Warning headers."""

    def flag(self, name: str) -> bool:
        """A boolean of the query."""
        value = self.query.get(name, "")
        if value in _TRUE:
            return True
        if value in _FALSE:
            return False
        raise bad_request(f'strconv.ParseBool: parsing "{value}": invalid syntax')

    @property
    def dry_run(self) -> bool:
        """Whether everything is to happen but the write."""
        value = self.query.get("dryRun", "")
        if value in ("", "All"):
            return value == "All"
        raise bad_option(
            self,
            "dryRun",
            "FieldValueNotSupported",
            f'Unsupported value: ["{value}"]: supported values: "All"',
        )

    @property
    def field_manager(self) -> str:
        """Who owns the fields that this request writes: as told, or the client's name."""
        told = self.query.get("fieldManager", "")
        if told:
            return _checked_manager(self, told)
        return self.headers.get("User-Agent", "").partition("/")[0] or "unknown"

    @property
    def name(self) -> str:
        """The object's name in the URL."""
        return self.info.name

    @property
    def namespace(self) -> str:
        """The namespace in the URL; empty for cluster scoped resources."""
        return self.info.namespace if self.resource.namespaced else ""


def bad_option(call: Call, name: str, reason: str, message: str) -> StatusError:
    """An option of the query cannot be understood."""
    kind = _options(call.info.verb)
    return StatusError(
        422,
        "Invalid",
        f'{kind}.meta.k8s.io "" is invalid: {name}: {message}',
        group="meta.k8s.io",
        kind=kind,
        causes=[Cause(reason, message, name)],
    )


def _checked_manager(call: Call, manager: str) -> str:
    """The name of a manager, which must be short and printable."""
    if len(manager.encode()) > MAX_MANAGER:
        message = f"Too long: may not be more than {MAX_MANAGER} bytes"
        raise bad_option(call, "fieldManager", "FieldValueTooLong", message)
    for index, char in enumerate(manager):
        if not char.isprintable():
            message = (
                f"Invalid value: {dumps(manager)}: invalid character U+{ord(char):04X} (at position {index})"
            )
            raise bad_option(call, "fieldManager", "FieldValueInvalid", message)
    return manager


def _options(verb: str) -> str:
    return {"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions"}.get(
        verb, "DeleteOptions"
    )
