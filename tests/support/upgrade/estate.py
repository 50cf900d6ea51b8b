"""What users have in a control plane that is upgraded: definitions, XRs, claims, secrets and packages."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from crossply.kube.client import Client
from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.e2e.packages import FUNCTION, REVISIONS
from tests.support.e2e.scenario import CONFIG_MAP, CRD, NAMESPACE, SECRET
from tests.support.e2e.things import READY, SYNCED
from tests.support.patience import PATIENCE
from tests.support.takeover import fleet
from tests.support.takeover.fleet import BOX, CLIMATE, CRATE, Member
from tests.support.takeover.snapshot import Key, read_all

KINDS = (BOX, CLIMATE, CRATE)
"""XRs of patch-and-transform, XRs that read an environment, and claims with a connection secret."""
COMPOSED = (CONFIG_MAP, SECRET)
COMPOSITION_REVISION = fleet.COMPOSITION._replace(kind="CompositionRevision", plural="compositionrevisions")
DEFINED = (fleet.DEFINITION, fleet.COMPOSITION, COMPOSITION_REVISION, fleet.ENVIRONMENT)
PACKAGES = (FUNCTION, REVISIONS["Function"])
_FUNCTIONS = {"function-patch-and-transform": "v0.9.0", "function-environment-configs": "v0.4.0"}
_PREFIX = "xpkg.crossplane.io/crossplane-contrib"
_COUNT = 2


class Estate:
    """Objects of users, written and looked at through a client."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def create(self) -> None:
        """Write everything, and wait until it is ready."""
        await self.client.create(NAMESPACE, {"metadata": {"name": fleet.NAMESPACE}})
        await self._apply(SECRET, {"metadata": _metadata("mine"), "stringData": {"key": "kept"}})
        for name, version in _FUNCTIONS.items():
            package = f"{_PREFIX}/{name}:{version}"
            await self._apply(FUNCTION, {"metadata": {"name": name}, "spec": {"package": package}})
        for written_as, definition in fleet.definitions():
            if "tales" not in definition["metadata"]["name"]:
                await self._apply(written_as, definition)
        await self.compose("first")
        for member in self.members():
            await self.write(member)
        for member in self.members():
            await self.until_ready(member)

    def members(self, name: str = "") -> list[Member]:
        """XRs and claims; those with a name are newcomers."""
        if name:
            return [Member(kind, f"{kind.kind.lower()}-{name}") for kind in KINDS]
        return [Member(kind, f"{kind.kind.lower()}-{number}") for kind in KINDS for number in range(_COUNT)]

    async def compose(self, note: str) -> None:
        """Write the Compositions and their environment."""
        await self._apply(fleet.ENVIRONMENT, fleet.environment())
        for composition in fleet.compositions(note):
            if composition["metadata"]["name"] != fleet.TALE.plural:
                await self._apply(fleet.COMPOSITION, composition)

    async def write(self, member: Member, size: str = "small") -> None:
        """Write an XR or a claim, as soon as its kind is served."""

        async def written() -> bool:
            await self._apply(member.kind, fleet.body_of(member, size))
            return True

        await _eventually(written, f"{member} is written")

    async def until_ready(self, member: Member) -> None:
        """Wait until an XR or a claim is ready."""

        async def is_ready() -> bool:
            obj = await self.client.get(member.kind, member.name, fleet.NAMESPACE)
            return obj is not None and SYNCED(obj) and READY(obj)

        await _eventually(is_ready, f"{member} is ready")

    async def settle(self, name: str) -> None:
        """Wait until the control plane has composed newcomers of every kind: it has seen the others then."""
        for member in self.members(name):
            await self.write(member)
        for member in self.members(name):
            await self.until_ready(member)

    async def until_size(self, member: Member, size: str) -> None:
        """Wait until what an XR or a claim is composed of follows an edit."""
        label = "crossplane.io/claim-name" if member.kind is CRATE else "crossplane.io/composite"

        async def follows() -> bool:
            maps = await read_all(self.client, (CONFIG_MAP,), fleet.NAMESPACE)
            labels = [(obj["metadata"].get("labels") or {}, obj.get("data") or {}) for obj in maps.values()]
            return any(of.get(label) == member.name and data.get("size") == size for of, data in labels)

        await _eventually(follows, f"{member} is composed with size {size}")

    async def until_gone(self, kind: Kind, name: str) -> None:
        """Wait until an object is deleted."""

        async def is_gone() -> bool:
            return await self.client.get(kind, name, fleet.NAMESPACE) is None

        await _eventually(is_gone, f"{kind.kind}/{name} is gone")

    async def look(self) -> dict[str, dict[Key, Object]]:
        """Everything that an upgrade must not touch."""
        users = (*KINDS, fleet.XCRATE)
        return {
            "users": await read_all(self.client, users, fleet.NAMESPACE),
            "composed": await read_all(self.client, COMPOSED, fleet.NAMESPACE),
            "defined": await read_all(self.client, DEFINED),
            "packages": await read_all(self.client, PACKAGES),
            "crds": await read_all(self.client, (CRD,)),
        }

    async def _apply(self, kind: Kind, body: Object) -> None:
        await self.client.apply(kind, {"apiVersion": kind.api_version, "kind": kind.kind, **body}, "user")


def _metadata(name: str) -> Object:
    return {"name": name, "namespace": fleet.NAMESPACE}


async def _eventually(check: Callable[[], Awaitable[bool]], description: str) -> None:
    from crossply.kube.failures import KubeError

    end, problem = time.monotonic() + PATIENCE, ""
    while True:
        try:
            if await check():
                return
        except KubeError as error:
            problem = str(error)
        assert time.monotonic() < end, f"it never came to be that {description}. {problem}"
        await asyncio.sleep(0.1)
