"""The connection details of the composite resource, and the Secret that is composed for them.

Crossplane v1 writes the details into the Secret that the composite resource names. Crossplane v2 does not, so
a Secret is composed where the program or the input of the step names one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crossply.functions.builtin.pythonic.constructors import B64Encode, value_of
from crossply.functions.builtin.pythonic.message_scalar import FieldMessage
from crossply.functions.builtin.pythonic.node import put
from crossply.functions.builtin.pythonic.value import Value

_TYPE = "connection.crossplane.io/v1alpha1"
_RESOURCE = "connection-secret"


class ConnectionSecret:
    """The descriptor of `connectionSecret`: the name, the namespace and the resourceName of the Secret."""

    def __get__(self, composite: Any, owner: Any = None) -> Any:
        if composite.crossplane_v1:
            return composite.spec.writeConnectionSecretToRef
        secret = vars(composite).get("_connection_secret")
        if secret is None:
            reference = composite.request.input.writeConnectionSecretToRef
            secret = composite._connection_secret = value_of(_entries(reference))
        return secret

    def __set__(self, composite: Any, values: Any) -> None:
        if not composite.crossplane_v1:
            composite._connection_secret = value_of(_entries(values))
        elif values != composite.spec.writeConnectionSecretToRef:
            raise NotImplementedError("Connection Secret cannot be set in Crossplane V1")


class ConnectionDetails:
    """The descriptor of `connection`."""

    def __get__(self, composite: Any, owner: Any = None) -> Connection:
        connection = vars(composite).get("_connection")
        if connection is None:
            connection = composite._connection = Connection(composite)
        return connection  # type: ignore[no-any-return]

    def __set__(self, composite: Any, values: Any) -> None:
        connection = self.__get__(composite)
        connection()
        for key, value in _entries(values).items():
            connection[key] = value


def _entries(values: Any) -> dict[str, Any]:
    pairs = values.items() if isinstance(values, dict) else values
    return {key: value for key, value in pairs}  # noqa: C416 - dict() would take a value for a mapping


class Connection:
    """The connection details by key."""

    __slots__ = ("_composite",)

    _composite: Any

    def __init__(self, composite: Any) -> None:
        put(self, "_composite", composite)

    @property
    def observed(self) -> Any:
        return self._composite.request.observed.composite.connection_details

    def _details(self) -> Any:
        return self._composite.response.desired.composite.connection_details

    def _resource_name(self) -> str:
        return str(self._composite.connectionSecret.resourceName or _RESOURCE)

    def __getattr__(self, key: str) -> Any:
        return self[key]

    def __getitem__(self, key: Any) -> Any:
        return self._details()[key]

    def __bool__(self) -> bool:
        return bool(self._details())

    def __len__(self) -> int:
        return len(self._details())

    def __contains__(self, key: object) -> bool:
        return key in self._details()

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(self._details())

    def __str__(self) -> str:
        return format(self, "")

    def __format__(self, spec: str) -> str:
        return format(self._details(), spec)

    def __call__(self, **details: Any) -> None:
        """Remove all details and set the given ones."""
        self._details()()
        if not self._composite.crossplane_v1:
            del self._composite.resources[self._resource_name()]
        for key, value in details.items():
            self[key] = value

    def __setattr__(self, key: str, value: Any) -> None:
        self[key] = value

    def __setitem__(self, key: str, value: Any) -> None:
        """Set a detail; nothing is set to an unknown one."""
        if value is None or (isinstance(value, FieldMessage | Value) and not value):
            return
        self._details()[key] = str(value)
        if not self._composite.crossplane_v1 and self._composite.connectionSecret.name:
            secret = self._secret()
            if secret is not None:
                secret.data[key] = B64Encode(str(value))

    def _secret(self) -> Any:
        """The composed Secret; None where its namespace is not known."""
        composite, name = self._composite, self._resource_name()
        if name in composite.resources:
            return composite.resources[name]
        secret = composite.resources[name]("v1", "Secret")
        secret_reference = composite.connectionSecret
        if len(secret_reference.name):
            secret.metadata.name = secret_reference.name
        if not composite.metadata.namespace:
            if not secret_reference.namespace:
                message = "Cluster scoped XR must specify connection secret namespace"
                composite.results.fatal("ConnectionNoNamespace", message)
                return None
            secret.metadata.namespace = secret_reference.namespace
        secret.type = _TYPE
        return secret

    def __delattr__(self, key: str) -> None:
        del self[key]

    def __delitem__(self, key: str) -> None:
        del self._details()[key]
        name = self._resource_name()
        if not self._composite.crossplane_v1 and name in self._composite.resources:
            secret = self._composite.resources[name]
            del secret.data[key]
            if not len(secret.data):
                del self._composite.resources[name]
