"""Where replicas serve their runs: one ConfigMap that each replica writes its own key of.

It has addresses and certificates, and nothing secret. A client believes only so much of it that whoever wrote
it gains nothing: it connects to its own machine, or through the API server to a Pod in the same namespace.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import orjson

from crossply.kube.client import Client
from crossply.kube.failures import AlreadyExists, NotFound
from crossply.kube.kind import Kind
from crossply.values import Object

CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps", True)
NAMESPACE = "crossplane-system"
NAME = "crossply-runs"
PATH = "/runs"
TOKEN_HEADER = "X-Crossply-Token"
"""A bearer token: the API server's proxy keeps the Authorization header to itself."""
_MOST = 64
_KEY = re.compile(r"[^-._a-zA-Z0-9]")


class Replica(NamedTuple):
    """Where one replica serves its runs."""

    name: str
    port: int
    certificate: str
    """PEM; the server's certificate is signed by it."""
    pod: str = ""
    """The Pod, reached through the API server; empty for a process on the client's machine."""
    service_account: str = ""
    """The service account of the Pod."""
    started: str = ""


async def announce(client: Client, replica: Replica) -> None:
    """Announce a replica to clients; it replaces one of the same name."""
    body = {"data": {_key(replica.name): orjson.dumps(replica._asdict()).decode()}}
    metadata = {"name": NAME, "namespace": NAMESPACE}
    for _ in range(3):
        try:
            known = await client.patch_merge(CONFIG_MAP, NAME, body, NAMESPACE)
        except NotFound:
            pass
        else:
            await _forget_oldest(client, known)
            return
        try:
            await client.create(
                CONFIG_MAP, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **body}
            )
            return
        except AlreadyExists:
            continue


async def retract(client: Client, name: str) -> None:
    """The replica serves nothing any more."""
    await client.patch_merge(CONFIG_MAP, NAME, {"data": {_key(name): None}}, NAMESPACE)


async def announced(client: Client) -> list[Replica]:
    """The replicas that were announced; some of them may be gone."""
    config_map = await client.get(CONFIG_MAP, NAME, NAMESPACE)
    return [] if config_map is None else _replicas(config_map)


async def _forget_oldest(client: Client, config_map: Object) -> None:
    """Replicas that were killed could not retract: beyond a number, the oldest are forgotten."""
    replicas = sorted(_replicas(config_map), key=lambda replica: replica.started)
    for replica in replicas[:-_MOST]:
        await retract(client, replica.name)


def _replicas(config_map: Object) -> list[Replica]:
    replicas = []
    for text in (config_map.get("data") or {}).values():
        try:
            replicas.append(Replica(**orjson.loads(text)))
        except (TypeError, orjson.JSONDecodeError):
            continue
    return replicas


def _key(name: str) -> str:
    return _KEY.sub("-", name)
