"""The endpoint of a write: kind, version, subresource, and the fields it may not set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from crossply.apply.errors import NotTyped
from crossply.apply.field_sets import FIELD, FieldSet
from crossply.apply.schema_compiler import custom_type
from crossply.apply.schema_types import Type
from crossply.apply.validate import check
from crossply.values import Object


def relabelled(object_: Object, api_version: str) -> Object:
    """Convert as the strategy None does."""
    return {**object_, "apiVersion": api_version}


class Version(NamedTuple):
    """One version: how its values merge, and how an object gets there."""

    api_version: str
    type: Type
    conversion: Callable[[Object, str], Object] = relabelled

    def convert(self, object_: Object, context: str = "") -> Object:
        """Return an object in this version; check it if it was converted. `context` begins error messages."""
        if object_.get("apiVersion") == self.api_version:
            return object_
        converted = self.conversion(object_, self.api_version)
        try:
            check(converted, self.type)
        except NotTyped as error:
            raise (error.within(context) if context else error) from None
        return converted


Versions = Mapping[str, Version]


_NO_RESET: Mapping[str, FieldSet] = MappingProxyType({})
# What the main endpoint of a kind with a status ignores, and what the status endpoint ignores.
_STATUS: FieldSet = {"f:status": FIELD}
_NOT_STATUS: FieldSet = {"f:metadata": FIELD, "f:spec": FIELD}


class Scope(NamedTuple):
    """One endpoint of a kind. `reset` holds, by apiVersion, the fields that a write through it never owns."""

    kind: str
    api_version: str
    versions: Versions
    subresource: str = ""
    reset: Mapping[str, FieldSet] = _NO_RESET

    @property
    def version(self) -> Version:
        """The version of the endpoint."""
        return self.versions[self.api_version]

    @property
    def type(self) -> Type:
        """How values merge in that version."""
        return self.versions[self.api_version].type


def custom_scopes(
    crd: Object, conversion: Callable[[Object, str], Object] = relabelled
) -> dict[tuple[str, str], Scope]:
    """Return the endpoints of a custom resource, by version name and subresource ("" or "status")."""
    spec = crd["spec"]
    versions = {}
    for version in spec["versions"]:
        api_version = f"{spec['group']}/{version['name']}"
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        versions[api_version] = Version(api_version, custom_type(schema), conversion)
    scopes = {}
    every_version = dict.fromkeys(versions, _NOT_STATUS)
    for version in spec["versions"]:
        name, api_version, kind = version["name"], f"{spec['group']}/{version['name']}", spec["names"]["kind"]
        has_status = (version.get("subresources") or {}).get("status") is not None
        reset = {api_version: _STATUS} if has_status else _NO_RESET
        scopes[name, ""] = Scope(kind, api_version, versions, "", reset)
        if has_status:
            scopes[name, "status"] = Scope(kind, api_version, versions, "status", every_version)
    return scopes
