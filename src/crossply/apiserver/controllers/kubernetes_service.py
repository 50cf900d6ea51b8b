"""The Service `default/kubernetes`, by which clients in a cluster find the server.

It is created at startup and has the server's port. Its EndpointSlice is written only if the address is
reachable: the API refuses loopback addresses as endpoints.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from dataclasses import replace

from crossply.apiserver.controllers.internal_calls import internal_call
from crossply.apiserver.endpoints.request_info import User
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.registry.create import create
from crossply.apiserver.registry.defaulting_and_pruning import normalize
from crossply.apiserver.registry.update import update
from crossply.apiserver.server_context import ServerContext
from crossply.apiserver.storage import Key, StorageError
from crossply.apiserver.stored_object_codec import decode
from crossply.values import Object

NAMESPACE, NAME = "default", "kubernetes"
ADDRESS = "10.96.0.1"
_SERVER = User("system:apiserver", ("system:masters", "system:authenticated"))
_MANAGER = {"fieldManager": "kube-apiserver"}
_RETRY_SECONDS = 5.0

_log = logging.getLogger("crossply.apiserver")


async def keep_service(context: ServerContext, host: str, port: int) -> None:
    """Create the Service; retries while an admission webhook or a full disk prevents it."""
    while True:
        try:
            return await ensure_service(context, host, port)
        except (StatusError, StorageError) as problem:
            _log.warning("the Service %s/%s cannot be written: %s", NAMESPACE, NAME, problem)
            await asyncio.sleep(_RETRY_SECONDS)


async def ensure_service(context: ServerContext, host: str, port: int) -> None:
    """Create the Service, or correct the port of an existing one."""
    await _ensure(context, ("services", NAMESPACE, NAME), _service(port))
    if _is_reachable(host):
        slices: Key = ("endpointslices.discovery.k8s.io", NAMESPACE, NAME)
        await _ensure(context, slices, _endpoint_slice(host, port))


def _is_reachable(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified or address.is_link_local)


async def _ensure(context: ServerContext, key: Key, desired: Object) -> None:
    entry = context.store.latest(key)
    call = internal_call(context, key, "update" if entry else "create", _SERVER)
    if call is None:
        return
    call = replace(call, query=_MANAGER)
    if entry is None:
        await create(context, call, normalize(call, desired))
        return
    current = decode(entry.data)
    changed = _completed(current, desired)
    if changed != current:
        await update(context, call, NAME, lambda old: normalize(call, _completed(old, desired)))


def _completed(current: Object, desired: Object) -> Object:
    """The object with the desired fields; other fields stay."""
    changed = {**current}
    for field, value in desired.items():
        if isinstance(value, dict) and isinstance(current.get(field), dict):
            changed[field] = _completed(current[field], value)
        elif field not in ("apiVersion", "kind"):
            changed[field] = value
    return changed


def _service(port: int) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": NAME,
            "namespace": NAMESPACE,
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "clusterIP": ADDRESS,
            "ipFamilyPolicy": "SingleStack",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": port}],
            "sessionAffinity": "None",
            "type": "ClusterIP",
        },
    }


def _endpoint_slice(host: str, port: int) -> Object:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": NAME,
            "namespace": NAMESPACE,
            "labels": {"kubernetes.io/service-name": NAME},
        },
        "addressType": "IPv6" if ":" in host else "IPv4",
        "endpoints": [{"addresses": [host], "conditions": {"ready": True}}],
        "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
    }
