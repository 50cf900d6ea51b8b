"""A cluster that Crossplane runs, and the two control planes that can run it."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import orjson

from crossply.kube.client import Client
from crossply.kube.config import load_config
from crossply.kube.failures import KubeError
from crossply.kube.kind import Kind
from crossply.values import Object, yaml
from tests.support.chart_installation import (
    allowing,
    composing,
    controller_flags,
    install_objects,
    may_compose,
)
from tests.support.e2e.kubelet import DEPLOYMENT
from tests.support.e2e.packages import FUNCTION, PROVIDER, REVISIONS, crd
from tests.support.e2e.scenario import CONFIG_MAP, CRD, SECRET, condition
from tests.support.e2e.scenario import NAMESPACE as NAMESPACES
from tests.support.e2e.things import READY, SYNCED
from tests.support.images import package
from tests.support.paths import ROOT
from tests.support.patience import PATIENCE
from tests.support.registry import pushed
from tests.support.takeover import fleet
from tests.support.takeover.crossplane_process import HOME, Crossplane, rendered_chart
from tests.support.takeover.fleet import Member
from tests.support.takeover.function_host import FUNCTIONS, FunctionHost

CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")
_EXTENSIONS = "apiextensions.crossplane.io"
ACTIVATION = Kind(
    _EXTENSIONS,
    "v1alpha1",
    "ManagedResourceActivationPolicy",
    "managedresourceactivationpolicies",
    False,
)
MANAGED = Kind(_EXTENSIONS, "v1alpha1", "ManagedResourceDefinition", "managedresourcedefinitions", False)
CHART = ROOT / "deploy" / "chart"
_FLAGS = ("--metrics-port=0", "--health-probe-port=0", "--webhook-port=0")


class ControlPlanes:
    """The cluster, as a test sees it."""

    def __init__(
        self, client: Client, crossplane: Crossplane, host: FunctionHost, directory: pathlib.Path
    ) -> None:
        self.client, self.crossplane, self.host = client, crossplane, host
        self._directory = directory
        self._kubeconfig = ""

    @contextlib.asynccontextmanager
    async def run_crossplane(self) -> AsyncIterator[None]:
        """Crossplane at work, from its init container on."""
        await asyncio.to_thread(self.crossplane.initialize)
        certificates = {}
        for name in ("crossplane-tls-server", "crossplane-tls-client"):
            certificates[name] = await self.client.get(SECRET, name, HOME) or {}
        running = self.crossplane.running(certificates)
        await asyncio.to_thread(running.__enter__)
        try:
            yield
        finally:
            await asyncio.to_thread(running.__exit__, None, None, None)

    async def install_crossply(self, authority: str) -> None:
        """Crossply's chart beside Crossplane's: what is there already conflicts with nothing."""
        flags = ("--set", "rbac.sharedRoles=false,rbac.connectionSecrets=true")
        objects = await asyncio.to_thread(rendered_chart, CHART, "crossply", *flags)
        composed = composing(allowing([""], ["configmaps"]))
        self._kubeconfig = await install_objects(
            self.client, authority, self._directory, [*objects, composed]
        )
        await self.eventually(lambda: may_compose(self.client, CONFIG_MAP), "the controllers may compose")

    @contextlib.contextmanager
    def run_crossply(self) -> Iterator[None]:
        """Crossply's controllers at work, with the rights that the chart gives them."""
        log = self._directory / "crossply.log"
        words = ("--kubeconfig", self._kubeconfig, "--xpkg-cache-dir", str(self._directory / "packages"))
        with open(log, "a") as errors:
            process = subprocess.Popen(
                [CROSSPLY, *controller_flags(), *words, *_FLAGS],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "control plane ready\n", log.read_text()
            yield
        finally:
            process.terminate()
            process.stdout.close()
            process.wait(60)

    async def install_functions(self, registry: str) -> None:
        """Install every function from its package, and serve what Crossplane's Deployments would run."""
        for name in FUNCTIONS:
            meta = {"apiVersion": "meta.pkg.crossplane.io/v1", "kind": "Function"}
            stream = yaml.dump_all([{**meta, "metadata": {"name": name}, "spec": {}}]).encode()
            await asyncio.to_thread(pushed, registry, package(stream), f"acme/{name}:v1")
            body = {"apiVersion": FUNCTION.api_version, "kind": "Function", "metadata": {"name": name}}
            spec = {"package": f"{registry}/acme/{name}:v1"}
            await self.client.apply(FUNCTION, {**body, "spec": spec}, "user")
        for name in FUNCTIONS:
            revision = await self.eventually(
                partial(self._deployed, FUNCTION, name), f"{name} has a Deployment"
            )
            await self.host.serve(name, revision)
            await self.until(FUNCTION, name, condition("Healthy", "True"))

    async def install_provider(self, registry: str) -> None:
        """Install a Provider of two kinds, one of which is activated."""
        name = "provider-things"
        meta = {"apiVersion": "meta.pkg.crossplane.io/v1", "kind": "Provider", "metadata": {"name": name}}
        meta["spec"] = {"capabilities": ["safe-start"]}
        kinds = [crd(f"{name}.example.org", kind) for kind in ("Bucket", "Queue")]
        stream = yaml.dump_all([meta, *kinds]).encode()
        await asyncio.to_thread(pushed, registry, package(stream), f"acme/{name}:v1")
        body = {"apiVersion": PROVIDER.api_version, "kind": "Provider", "metadata": {"name": name}}
        await self.client.apply(PROVIDER, {**body, "spec": {"package": f"{registry}/acme/{name}:v1"}}, "user")
        policy = {
            "apiVersion": ACTIVATION.api_version,
            "kind": ACTIVATION.kind,
            "metadata": {"name": "buckets"},
        }
        spec = {"activate": [f"buckets.{name}.example.org"]}
        await self.client.apply(ACTIVATION, {**policy, "spec": spec}, "user")
        await self.eventually(
            lambda: self.client.get(CRD, f"buckets.{name}.example.org"), "Buckets are served"
        )
        revision = await self.eventually(lambda: self._deployed(PROVIDER, name), f"{name} has a Deployment")
        await self.host.say_available(revision["metadata"]["name"])
        await self.until(PROVIDER, name, condition("Healthy", "True"))

    async def _deployed(self, kind: Kind, package: str) -> Object | None:
        """The current revision of a package, once it has a Deployment and a certificate."""
        live = await self.client.get(kind, package)
        name = ((live or {}).get("status") or {}).get("currentRevision")
        revision = await self.client.get(REVISIONS[kind.kind], name) if name else None
        if not name or not revision:
            return None
        deployed = await self.client.get(DEPLOYMENT, name, HOME)
        return revision if deployed and (revision.get("status") or {}).get("tlsServerSecretName") else None

    async def create_fleet(self) -> None:
        """Define the kinds and create sixty of them, and what protects some."""
        await self.client.apply(NAMESPACES, _namespace(fleet.NAMESPACE), "user")
        await self.client.apply(fleet.ENVIRONMENT, fleet.environment(), "user")
        for kind, definition in fleet.definitions():
            await self.client.apply(kind, definition, "user")
            await self.until(kind, definition["metadata"]["name"], condition("Established", "True"))
        await self.compose()
        await self.until(fleet.LEGACY_DEFINITION, fleet.XCRATE.resource, condition("Offered", "True"))
        await self.write(*fleet.members())
        for member in fleet.members():
            await self.until(member.kind, member.name, SYNCED, READY)
        for usage in fleet.usages():
            await self.client.apply(fleet.USAGE, usage, "user")
            await self.until(fleet.USAGE, usage["metadata"]["name"], condition("Ready", "True"))

    async def compose(self, note: str = "first") -> None:
        """Apply the Compositions."""
        for composition in fleet.compositions(note):
            await self.client.apply(fleet.COMPOSITION, composition, "user")

    async def write(self, *members: Member, size: str = "small") -> None:
        """Create composite resources and claims, or edit them."""
        for member in members:
            await self.client.apply(member.kind, fleet.body_of(member, size), "user")

    async def composed(self, member: Member) -> Object | None:
        """The ConfigMap that was composed for one."""
        live = await self.client.get(member.kind, member.name, fleet.NAMESPACE) or {}
        if member.kind is fleet.CRATE:
            ref = (live.get("spec") or {}).get("resourceRef")
            live = (await self.client.get(fleet.XCRATE, ref["name"]) if ref else None) or {}
        spec = live.get("spec") or {}
        refs = spec.get("resourceRefs") or (spec.get("crossplane") or {}).get("resourceRefs") or ()
        for ref in refs:
            return await self.client.get(CONFIG_MAP, ref["name"], fleet.NAMESPACE)
        return None

    async def until_composed(self, member: Member, **data: str) -> Object:
        """The ConfigMap of one, once it has this data."""

        async def is_composed() -> Object | None:
            config_map = await self.composed(member)
            return (
                config_map if config_map and data.items() <= (config_map.get("data") or {}).items() else None
            )

        return await self.eventually(is_composed, f"{member.kind.kind} {member.name} is composed with {data}")

    async def until(self, kind: Kind, name: str, *checks: Callable[[Object], Any]) -> Object:
        """An object, once it passes all checks."""
        namespace = fleet.NAMESPACE if kind.namespaced else ""
        last: list[Object | None] = [None]

        async def read() -> Object | None:
            last[0] = await self.client.get(kind, name, namespace)
            return last[0] if last[0] is not None and all(check(last[0]) for check in checks) else None

        try:
            return await self.eventually(read, f"{kind.kind} {name}")
        except AssertionError as failed:
            raise AssertionError(
                f"{failed}: {orjson.dumps((last[0] or {}).get('status')).decode()}"
            ) from None

    async def eventually(self, read: Callable[[], Awaitable[Any]], description: str) -> Any:
        """Poll until a condition holds."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with contextlib.suppress(KubeError):
                result = await read()
                if result:
                    return result
            await asyncio.sleep(0.25)
        raise AssertionError(f"it did not come to be: {description}")


def _namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


@contextlib.asynccontextmanager
async def connected(kubeconfig: str) -> AsyncIterator[Client]:
    """A client of the cluster."""
    async with Client(load_config(kubeconfig)) as client:
        yield client
