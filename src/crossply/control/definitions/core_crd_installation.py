"""Installing the CRDs of the control plane beside those that Crossplane installed.

A CRD that only we wrote is applied as it is. One that another installer wrote keeps all it has, such as
descriptions, printer columns and fields that we do not know; it gets the versions and fields that it lacks.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable

from crossply.compose.object_metadata import name_of
from crossply.control.definitions.core_crds import extend
from crossply.kube.client import Client
from crossply.kube.core_kinds import CRD
from crossply.kube.failures import Conflict, KubeError, ServerFull
from crossply.kube.kind import Kind
from crossply.values import Object
from crossply.values.deepcopy import deepcopy

_ATTEMPTS = 5


async def install_crd(reader: Client, writer: Client, crd: Object, manager: str) -> None:
    """Apply a CRD, or add to the one that another installer wrote; `writer` only needs the right to patch."""
    try:
        await writer.apply(CRD, crd, manager, force=False)
    except Conflict:
        await _complete(reader, writer, crd, manager)


async def _complete(reader: Client, writer: Client, crd: Object, manager: str) -> None:
    name = name_of(crd)
    for attempt in range(1, _ATTEMPTS + 1):
        live = await reader.get(CRD, name)
        if live is None:
            await writer.apply(CRD, crd, manager)
            return
        versions = completed(live, crd)["spec"]["versions"]
        if versions == live["spec"]["versions"]:
            return
        version = {"resourceVersion": live["metadata"]["resourceVersion"]}
        try:
            await writer.patch_merge(
                CRD, name, {"metadata": version, "spec": {"versions": versions}}, "", manager
            )
        except Conflict:
            if attempt == _ATTEMPTS:
                raise
            continue
        return


def completed(live: Object, desired: Object) -> Object:
    """A live CRD with the versions and fields of ours that it lacks. Everything else stays."""
    crd: Object = deepcopy(live)
    extend(crd)
    versions = {version["name"]: version for version in crd["spec"]["versions"]}
    for version in desired["spec"]["versions"]:
        known = versions.get(version["name"])
        if known is None:
            crd["spec"]["versions"].append({**deepcopy(version), "storage": False})
        else:
            _add_fields(known["schema"]["openAPIV3Schema"], version["schema"]["openAPIV3Schema"])
    return crd


def _add_fields(schema: Object, desired: Object) -> None:
    """Add the properties that a schema lacks, at every depth."""
    for name, inner in (desired.get("properties") or {}).items():
        properties = schema.setdefault("properties", {})
        if name in properties:
            _add_fields(properties[name], inner)
        else:
            properties[name] = deepcopy(inner)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict) and isinstance(desired.get(key), dict):
            _add_fields(schema[key], desired[key])


_log = logging.getLogger("crossply.control")


async def install_or_keep(client: Client, kind: Kind, obj: Object, installation: Awaitable[object]) -> None:
    """Install an object. If the server is full and has an older version of it, that one stays.

    Raises ServerFull if there is none, and KubeError if others change the object all the time.
    """
    try:
        await installation
    except Conflict as conflict:
        message = f"cannot install {kind.kind} {name_of(obj)}: {conflict}"
        raise KubeError(message, hint="another installer changes it: start again when that is done") from None
    except ServerFull as problem:
        if await client.get(kind, name_of(obj)) is None:
            raise
        _log.warning("%s %s stays as it is: %s", kind.kind, name_of(obj), problem)
