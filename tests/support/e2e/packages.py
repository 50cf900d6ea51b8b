"""Packages in a registry for one scenario: made, pushed, installed and looked at."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import orjson

from crossply.kube.kind import Kind
from crossply.values import Object, yaml
from crossply.xpkg.image import Image, encode
from crossply.xpkg.image_push import push_image
from crossply.xpkg.image_reference import parse
from crossply.xpkg.keychain import Keychain
from crossply.xpkg.registry_session import Registries, Trust
from tests.support.e2e.kubeconfig import kubeconfig_for
from tests.support.e2e.scenario import COMPOSITION, DEFINITION, Scenario, condition
from tests.support.images import package
from tests.support.patience import PATIENCE

CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")
_GROUP = "pkg.crossplane.io"
CONFIGURATION = Kind(_GROUP, "v1", "Configuration", "configurations", False)
FUNCTION = Kind(_GROUP, "v1", "Function", "functions", False)
PROVIDER = Kind(_GROUP, "v1", "Provider", "providers", False)
REVISIONS = {
    kind.kind: Kind(_GROUP, "v1", f"{kind.kind}Revision", f"{kind.kind.lower()}revisions", False)
    for kind in (CONFIGURATION, FUNCTION, PROVIDER)
}
IMAGE_CONFIG = Kind(_GROUP, "v1beta1", "ImageConfig", "imageconfigs", False)
LOCK = Kind(_GROUP, "v1beta1", "Lock", "locks", False)
HOME = "crossplane-system"
HEALTHY = condition("Healthy", "True", "HealthyPackageRevision")


class Packages:
    """The packages of a scenario in a registry."""

    def __init__(
        self, s: Scenario, address: str, trust: Trust | None = None, logins: Keychain | None = None
    ) -> None:
        self.s, self.address = s, address
        self._trust, self._logins = trust, logins

    def source(self, name: str) -> str:
        return f"{self.address}/{self.s.id}/{name}"

    def installed_as(self, name: str) -> str:
        """The name that a package is installed under unless another is given."""
        return f"{self.s.id}-{name}"

    async def push(self, image: str, kind: str, *objects: Object, **spec: Any) -> str:
        """Push a package; its digest. `metadata` and all else describe it."""
        name = image.partition(":")[0]
        metadata = {"name": name, **spec.pop("metadata", {})}
        meta = {"apiVersion": "meta.pkg.crossplane.io/v1", "kind": kind, "metadata": metadata, "spec": spec}
        return await self.push_picture(image, package(yaml.dump_all([meta, *objects]).encode()))

    async def push_picture(self, image: str, picture: Image) -> str:
        """Push any image; its digest."""
        async with Registries(self._logins, self._trust) as registries:
            await push_image(registries, picture, parse(f"{self.address}/{self.s.id}/{image}"))
        return encode(picture).manifest.digest

    async def install(self, kind: Kind, image: str, **spec: Any) -> str:
        """Install a package; what it is called."""
        name = self.installed_as(image.partition(":")[0].partition("@")[0])
        body: Object = {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {"name": name},
            "spec": {"package": f"{self.address}/{self.s.id}/{image}", **spec},
        }
        await self.s.client.apply(kind, body, "test")
        return name

    async def revision(self, kind: Kind, name: str, check: Callable[[Object], Any] = bool) -> Object:
        """The current revision of a package, once it passes a check."""

        async def current_revision() -> Object | None:
            installed = await self.s.client.get(kind, name)
            current = ((installed or {}).get("status") or {}).get("currentRevision")
            revision = await self.s.client.get(REVISIONS[kind.kind], current) if current else None
            return revision if revision is not None and check(revision) else None

        revision: Object = await self.s.eventually(current_revision)
        return revision

    async def revisions(self, kind: Kind, name: str) -> list[Object]:
        """All revisions of a package, the newest first."""
        listed = await self.s.client.list(
            REVISIONS[kind.kind], label_selector=f"pkg.crossplane.io/package={name}"
        )
        revisions = [orjson.loads(data) for data in listed.items]
        return sorted(revisions, key=lambda revision: revision["spec"]["revision"], reverse=True)

    async def remove(self, kind: Kind, name: str) -> None:
        """Delete a package, and wait until all of it is gone."""
        await self.s.client.delete(kind, name)
        await self.s.until_gone(kind, name)

        async def none() -> bool:
            return not await self.revisions(kind, name)

        await self.s.eventually(none)

    async def locked(self) -> dict[str, Object]:
        """The entries of the Lock about this scenario, by the ends of their sources."""
        lock = await self.s.client.get(LOCK, "lock") or {}
        return {
            locked["source"].rpartition("/")[2]: locked
            for locked in lock.get("packages") or ()
            if f"/{self.s.id}/" in locked["source"]
        }

    async def is_unlocked(self) -> bool:
        """Whether the Lock has nothing of this scenario."""
        return not await self.locked()


async def crossply(s: Scenario, *words: str, directory: pathlib.Path) -> str:
    """What one of our commands prints; it reaches the control plane of the scenario."""
    config = directory / "kubeconfig"
    if not config.exists():
        config.write_text(json.dumps(await kubeconfig_for(s.client.config)))
    process = await asyncio.create_subprocess_exec(
        CROSSPLY,
        *words,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "KUBECONFIG": str(config)},
    )
    async with asyncio.timeout(PATIENCE):
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


def definition(s: Scenario) -> Object:
    """The definition of XDb, for a package."""
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "string"}}}},
    }
    return {
        "apiVersion": DEFINITION.api_version,
        "kind": DEFINITION.kind,
        "metadata": {"name": s.xrs.resource},
        "spec": {
            "group": s.group,
            "names": {"kind": s.xrs.kind, "plural": s.xrs.plural},
            "versions": [
                {"name": "v1", "served": True, "referenceable": True, "schema": {"openAPIV3Schema": schema}}
            ],
        },
    }


def composition(s: Scenario, *pipeline: Object) -> Object:
    """The Composition of XDb, for a package."""
    type_ = {"apiVersion": s.api_version, "kind": s.xrs.kind}
    return {
        "apiVersion": COMPOSITION.api_version,
        "kind": COMPOSITION.kind,
        "metadata": {"name": s.id},
        "spec": {"compositeTypeRef": type_, "mode": "Pipeline", "pipeline": list(pipeline)},
    }


def crd(group: str, kind: str = "Bucket") -> Object:
    """A CRD of a Provider."""
    plural = f"{kind.lower()}s"
    schema = {"type": "object", "properties": {"spec": {"type": "object"}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Cluster",
            "names": {"kind": kind, "plural": plural},
            "versions": [version],
        },
    }


def condition_message(obj: Object, type_: str) -> str:
    """The message of a condition."""
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return next(
        (
            status_condition.get("message", "")
            for status_condition in conditions
            if status_condition["type"] == type_
        ),
        "",
    )
