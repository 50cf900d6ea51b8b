"""The NamespaceLifecycle rules: no objects in missing namespaces, no new ones in terminating ones."""

from __future__ import annotations

from dataclasses import dataclass

from crossply.apiserver.admission.attributes import Attributes
from crossply.apiserver.endpoints.status_errors import Cause, StatusError, forbidden, not_found
from crossply.apiserver.storage import Store
from crossply.apiserver.stored_object_codec import decode
from crossply.values import Object

_UNDELETABLE = frozenset({"default", "kube-system", "kube-public"})
_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace at a revision."""

    revision: int
    obj: Object
    is_terminating: bool
    """Whether no new objects may be created in it."""

    @property
    def labels(self) -> dict[str, str]:
        return self.obj["metadata"].get("labels") or {}


class Namespaces:
    """The namespaces of the store, each decoded once per change.

    The latest state counts, even if it is not durable yet: an object that is admitted to a namespace must
    become durable before the namespace is removed, or nothing would ever delete it.
    """

    __slots__ = ("_known", "_store")

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, Namespace] = {}

    def get(self, name: str) -> Namespace | None:
        entry = self._store.latest(("namespaces", "", name))
        if entry is None:
            self._known.pop(name, None)
            return None
        known = self._known.get(name)
        if known is None or known.revision != entry.revision:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            obj = decode(entry.data)
            ends = (obj.get("status") or {}).get("phase") == "Terminating"
            known = self._known[name] = Namespace(entry.revision, obj, ends)
        return known

    def is_active(self, name: str) -> bool:
        """Whether a namespace exists and accepts new objects."""
        namespace = self.get(name)
        return namespace is not None and not namespace.is_terminating

    def require(self, name: str) -> Namespace:
        """The namespace; raises NotFound."""
        namespace = self.get(name)
        if namespace is None:
            raise not_found("namespaces", "", name)
        return namespace


def check_namespace(namespaces: Namespaces, write: Attributes) -> None:
    """Refuse writes into missing namespaces, new objects in terminating ones, and deletion of the default
    ones.
    """
    if write.is_namespace:
        if write.operation == "DELETE" and write.name in _UNDELETABLE:
            raise forbidden("namespaces", "", write.name, "this namespace may not be deleted")
        return
    if not write.call.resource.namespaced or write.operation == "DELETE":
        return
    namespace = namespaces.require(write.namespace)
    if write.operation == "CREATE" and namespace.is_terminating:
        raise _terminating(write)


def _terminating(write: Attributes) -> StatusError:
    name = write.namespace
    refusal = write.forbidden(
        f"unable to create new content in namespace {name} because it is being terminated"
    )
    cause = Cause("NamespaceTerminating", f"namespace {name} is being terminated", "metadata.namespace")
    refusal.details["causes"] = [
        {"reason": cause.reason, "message": cause.message, "field": cause.field},
    ]
    return refusal
