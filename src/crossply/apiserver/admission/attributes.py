"""The attributes of a write, as admission sees it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.status_errors import Cause, StatusError, forbidden
from crossply.apiserver.registry.conversion import convert_one
from crossply.apiserver.server_context import ServerContext
from crossply.values import Object

_EXEMPT = frozenset(
    {
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
        "mutatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "validatingwebhookconfigurations",
    }
)


@dataclass(frozen=True, slots=True)
class Attributes:
    """A create, update or delete before it is stored."""

    call: Call
    operation: str
    obj: Object | None
    old: Object | None

    @property
    def group(self) -> str:
        return self.call.resource.group

    @property
    def plural(self) -> str:
        return self.call.resource.names.plural

    @property
    def version(self) -> str:
        """The version in the URL of the request."""
        return self.call.version.name

    @property
    def subresource(self) -> str:
        """The subresource that is written; empty for the object itself."""
        return self.call.info.subresource

    @property
    def namespace(self) -> str:
        """The namespace of the request; that of a Namespace is its own name."""
        return self.call.info.namespace

    @property
    def is_namespace(self) -> bool:
        return self.call.resource.key == "namespaces"

    @property
    def name(self) -> str:
        """The object's name; empty if it will be generated."""
        metadata = (self.obj or {}).get("metadata") or {}
        return self.call.info.name or metadata.get("name") or ""

    @property
    def is_exempt(self) -> bool:
        """Whether admission is skipped, so that no policy can prevent the configuration of admission."""
        return self.group == "admissionregistration.k8s.io" and self.plural in _EXEMPT

    def with_objects(self, obj: Object | None, old: Object | None) -> Attributes:
        """The same write with other objects."""
        return replace(self, obj=obj, old=old)

    def forbidden(self, why: str) -> StatusError:
        """The Forbidden error for this write."""
        metadata = (self.obj or {}).get("metadata") or {}
        name = self.name or metadata.get("generateName") or "Unknown"
        return forbidden(self.plural, self.group, name, why)


def internal_failure(why: str) -> StatusError:
    """An InternalError that also has its message as a cause, as kube-apiserver returns it."""
    return StatusError(500, "InternalError", f"Internal error occurred: {why}", causes=[Cause("", why)])


async def at_version(context: ServerContext, write: Attributes, version: str) -> Attributes:
    """The write with its objects converted to a version."""
    if version == write.version:
        return write
    return write.with_objects(
        await _converted(context, write, write.obj, version),
        await _converted(context, write, write.old, version),
    )


async def from_version(context: ServerContext, write: Attributes, obj: Object) -> Object:
    """An object converted back to the version of the request."""
    return await convert_one(context, write.call.resource, obj, write.version)


async def _converted(
    context: ServerContext, write: Attributes, obj: Object | None, version: str
) -> Object | None:
    # Objects of subresources of another kind, such as Scale, have one version only.
    if obj is None or obj.get("kind") != write.call.resource.names.kind:
        return obj
    return await convert_one(context, write.call.resource, obj, version)
