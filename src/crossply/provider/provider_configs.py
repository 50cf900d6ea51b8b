"""ProviderConfigs as managed resources use them: the configuration, its credentials, and who uses it."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from crossply.compose.object_metadata import (
    controller_of,
    name_of,
    namespace_of,
    owner_reference,
    uid_of,
)
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.kind import Kind
from crossply.provider.cached_object_reader import WatchedObjects
from crossply.provider.connection_secret import MANAGER
from crossply.provider.credential_types import Credentials, SecretData
from crossply.provider.decode import Lookups, Path, decode, find_fields
from crossply.provider.field_model import CredentialsField, SecretDataField
from crossply.provider.managed_kind import ManagedKind, ProviderConfigKinds
from crossply.provider.reconcile_triggers import ReadObject
from crossply.provider.secret_values import SecretReader
from crossply.values import Object

NAME_LABEL = "crossplane.io/provider-config"
KIND_LABEL = "crossplane.io/provider-config-kind"
MOST_BYTES = 1 << 20
"""Of a file with credentials."""


class UnusableProviderConfig(CrossplyError):
    """The ProviderConfig of a managed resource does not exist, or its credentials cannot be read."""

    code = "CP-885"
    hint = "create the ProviderConfig that spec.providerConfigRef names, or correct it"


class Config(NamedTuple):
    """A configuration that was read."""

    value: Any
    """An instance of the class that declares it; None where a kind has none."""
    secrets: tuple[str, ...] = ()
    """The values that no message may contain."""


class ProviderConfigs:
    """The configurations of one kind of managed resource."""

    def __init__(self, client: Client, objects: WatchedObjects, kind: ManagedKind) -> None:
        self._client = client
        self._objects = objects
        self._kind = kind

    async def track(self, resource: Object) -> None:
        """Note that a resource uses its ProviderConfig, before it is used."""
        kinds = self._kind.config
        if kinds is None:
            return
        try:
            await self._track(kinds, resource, _reference(resource, kinds))
        except CrossplyError as problem:
            raise problem.within("cannot track ProviderConfig usage") from problem

    async def read(self, resource: Object, secrets: SecretReader, read_objects: set[ReadObject]) -> Config:
        """The configuration of a resource; notes in `wanted` what it depends on."""
        kinds = self._kind.config
        if kinds is None:
            return Config(None)
        reference = _reference(resource, kinds)
        kind = kinds.kind_named(reference["kind"])
        if kind is None:
            raise UnusableProviderConfig(f"unsupported provider config kind: {reference['kind']}")
        namespace = namespace_of(resource) if kind.namespaced else ""
        read_objects.add(ReadObject(kind, namespace, reference["name"]))
        config = await self._objects.get(kind, reference["name"], namespace)
        if config is None:
            name = f'{kind.kind}.{kind.group} "{reference["name"]}"'
            other = await self._other_kind(kinds, kind, resource, reference["name"])
            raise UnusableProviderConfig(f"cannot get {kind.kind}: {name} not found{other}")
        return await _decoded(kinds, config, secrets)

    async def _other_kind(self, kinds: ProviderConfigKinds, kind: Kind, resource: Object, name: str) -> str:
        """What to add to a message where a configuration of the other kind has that name."""
        for other in kinds.configs:
            namespace = namespace_of(resource) if other.namespaced else ""
            is_reachable = other.namespaced <= self._kind.kind.namespaced
            if other != kind and is_reachable and await self._objects.get(other, name, namespace):
                return (
                    f", but a {other.kind} of that name exists: name its kind in spec.providerConfigRef.kind"
                )
        return ""

    async def _track(self, kinds: ProviderConfigKinds, resource: Object, reference: dict[str, str]) -> None:
        kind = kinds.namespaced_usage if self._kind.kind.namespaced else kinds.cluster_usage
        usage = _usage(kind, resource, reference)
        live = await self._objects.get(kind, uid_of(resource), namespace_of(resource))
        if live is None:
            written = await self._client.create(kind, usage, MANAGER)
        elif live.get("providerConfigRef") == usage["providerConfigRef"] and controller_of(live):
            return
        else:
            usage["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"]
            written = await self._client.update(kind, usage, MANAGER)
        self._objects.record_write(kind, written)


def _reference(resource: Object, kinds: ProviderConfigKinds) -> dict[str, str]:
    reference = (resource.get("spec") or {}).get("providerConfigRef") or {}
    if not reference.get("name"):
        raise UnusableProviderConfig("managed resource does not reference a ProviderConfig")
    kind = reference.get("kind") or ("" if namespace_of(resource) else kinds.cluster.kind)
    if not kind:
        raise UnusableProviderConfig("managed resource ProviderConfig reference has no Kind")
    return {"kind": str(kind), "name": str(reference["name"])}


def _usage(kind: Kind, resource: Object, reference: dict[str, str]) -> Object:
    namespace = {"namespace": namespace_of(resource)} if kind.namespaced else {}
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {
            "name": uid_of(resource),
            **namespace,
            "labels": {NAME_LABEL: reference["name"], KIND_LABEL: reference["kind"]},
            "ownerReferences": [owner_reference(resource)],
        },
        "providerConfigRef": {"kind": reference["kind"], "name": reference["name"]},
        "resourceRef": {
            "apiVersion": resource["apiVersion"],
            "kind": resource["kind"],
            "name": name_of(resource),
        },
    }


async def _decoded(kinds: ProviderConfigKinds, config: Object, reader: SecretReader) -> Config:
    spec, namespace = config.get("spec") or {}, namespace_of(config)
    credentials: dict[Path, Credentials] = {}
    for place in find_fields(kinds.spec, spec, CredentialsField):
        declared = _at(spec, place.value_path)
        if declared is not None:
            credentials[place.value_path] = await _credentials(declared, namespace, reader)
    data: dict[Path, SecretData] = {}
    for place in find_fields(kinds.spec, spec, SecretDataField):
        reference = _at(spec, (*place.path, place.field.secret_ref_name))
        if reference is not None:
            data[place.value_path] = await _secret_data(reference, namespace, reader)
    value = decode(kinds.spec, spec, Lookups(credentials=credentials, secret_data=data))
    hidden = [entry.data for entry in credentials.values()]
    hidden += [content for entry in data.values() for key, content in entry.items() if _is_secret(key)]
    return Config(value, tuple(content.decode(errors="replace").strip() for content in hidden))


def _is_secret(key: str) -> bool:
    """Whether a key of a connection Secret has something to hide; users and addresses help in messages."""
    return any(word in key.lower() for word in ("pass", "secret", "token", "key", "credential"))


async def _credentials(declared: Object, namespace: str, reader: SecretReader) -> Credentials:
    source = str(declared.get("source") or "None")
    if source in ("None", "InjectedIdentity"):
        return Credentials(source)
    if source == "Secret":
        return Credentials(source, await _from_secret(declared.get("secretRef"), namespace, reader))
    if source == "Environment":
        return Credentials(source, _from_environment(declared.get("env")))
    if source == "Filesystem":
        return Credentials(source, _from_file(declared.get("fs")))
    raise UnusableProviderConfig(f"no extraction handler registered for source: {source}")


async def _from_secret(reference: Object | None, namespace: str, reader: SecretReader) -> bytes:
    if not reference:
        raise UnusableProviderConfig("cannot extract from secret key when none specified")
    place = namespace or str(reference.get("namespace", ""))
    try:
        return await reader.value(place, str(reference.get("name", "")), str(reference.get("key", "")))
    except CrossplyError as problem:
        raise problem.within("cannot get credentials secret") from problem


def _from_environment(selector: Object | None) -> bytes:
    if not selector:
        raise UnusableProviderConfig("cannot extract from environment variable when none specified")
    return os.environ.get(str(selector.get("name", "")), "").encode()


def _from_file(selector: Object | None) -> bytes:
    if not selector:
        raise UnusableProviderConfig("cannot extract from filesystem when no path specified")
    path = str(selector.get("path", ""))
    try:
        with open(path, "rb") as file:
            return file.read(MOST_BYTES)
    except OSError as problem:
        raise UnusableProviderConfig(f"open {path}: {problem.strerror}") from problem


async def _secret_data(reference: Object, namespace: str, reader: SecretReader) -> SecretData:
    place, name = namespace or str(reference.get("namespace", "")), str(reference.get("name", ""))
    return SecretData(f"{place}/{name}", await reader.data(place, name))


def _at(fields: Any, path: Path) -> Any:
    for step in path:
        fields = fields.get(step) if isinstance(fields, dict) else fields[step]
        if fields is None:
            return None
    return fields
