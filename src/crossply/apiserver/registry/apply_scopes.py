"""The scopes of server-side apply: which fields each endpoint may own."""

from __future__ import annotations

from functools import partial

from crossply.apiserver.builtin import definition_of, definitions
from crossply.apiserver.endpoints.status_errors import Cause, StatusError
from crossply.apiserver.served_resources import Resource, Version
from crossply.apply import ApplyConflict, ApplyError, Scope, builtin_type, custom_type
from crossply.apply import Version as TypedVersion
from crossply.apply.field_sets import FIELD
from crossply.apply.request_scope import relabelled
from crossply.apply.schema_types import Type
from crossply.values.bounded_cache import SharedCache

_STATUS = {"f:status": FIELD}
_NOT_STATUS = {"f:metadata": FIELD, "f:spec": FIELD}


_CUSTOM_BYTES = 16 << 20
"""Of JSON schemas whose compiled types are kept."""

_Endpoints = dict[tuple[str, str], Scope]
"""By version and subresource."""


class Scopes:
    """The endpoints of every resource for server-side apply, compiled when one is first used."""

    __slots__ = ("_built_in", "_custom")

    def __init__(self) -> None:
        self._built_in: dict[Resource, _Endpoints] = {}
        self._custom: SharedCache[Resource, _Endpoints] = SharedCache(_CUSTOM_BYTES)

    def of(self, resource: Resource, version: str, subresource: str) -> Scope:
        """The scope of one endpoint; every subresource but status uses the main one."""
        scopes = self._endpoints(resource)
        return scopes.get((version, subresource)) or scopes[version, ""]

    def _endpoints(self, resource: Resource) -> _Endpoints:
        if resource.custom:
            size = sum(version.schema_size for version in resource.versions.values())
            return self._custom.get(resource, partial(_compile, resource), size)
        known = self._built_in.get(resource)
        if known is None:
            known = self._built_in[resource] = _compile(resource)
        return known


def _compile(resource: Resource) -> _Endpoints:
    kind = resource.names.kind
    versions = {}
    for version in resource.versions.values():
        api_version = resource.api_version(version.name)
        versions[api_version] = TypedVersion(api_version, _type(resource, version), relabelled)
    never = dict.fromkeys(versions, _NOT_STATUS)
    scopes = {}
    for version in resource.versions.values():
        api_version = resource.api_version(version.name)
        has_status = "status" in version.subresources
        reset = {api_version: _STATUS} if has_status else {}
        scopes[version.name, ""] = Scope(kind, api_version, versions, "", reset)
        if has_status:
            scopes[version.name, "status"] = Scope(kind, api_version, versions, "status", never)
    return scopes


def _type(resource: Resource, version: Version) -> Type:
    if resource.custom:
        return custom_type(version.schema)
    return builtin_type(definition_of(resource, version.name), definitions())


def as_status(problem: ApplyError, resource: Resource, name: str) -> StatusError:
    """The Status of an apply that failed."""
    if isinstance(problem, ApplyConflict):
        causes = [Cause(cause.type, cause.message, cause.field) for cause in problem.causes]
        return StatusError(409, "Conflict", str(problem), causes=causes)
    return StatusError(problem.status, problem.reason, str(problem))
