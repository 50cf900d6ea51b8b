"""Crossply takes over a cluster of Crossplane while it is in use, and Crossplane takes it back.

Crossplane is the real program, on a real API server; the tests of this file are one scenario, in their order.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
import tempfile
from collections.abc import Iterator

import pytest

from crossply.kube.failures import KubeError
from crossply.kube.kind import Kind
from tests.support.e2e.kubelet import DEPLOYMENT
from tests.support.e2e.packages import FUNCTION, PROVIDER, REVISIONS
from tests.support.e2e.scenario import CONFIG_MAP, CRD, SECRET
from tests.support.e2e.things import READY, SYNCED
from tests.support.e2e.usages import CLUSTER_ROLE, WEBHOOKS
from tests.support.registry import docker_registry
from tests.support.server_fixtures import own_cluster
from tests.support.takeover import fleet
from tests.support.takeover.cluster import MANAGED, ControlPlanes, connected
from tests.support.takeover.connect_proxy import ConnectProxy
from tests.support.takeover.crossplane_process import HOME, Crossplane
from tests.support.takeover.fleet import Member
from tests.support.takeover.function_host import SERVICE, SIZE_FUNCTION, FunctionHost
from tests.support.takeover.snapshot import altered, lost, read_all, rewritten

FLEET = (*fleet.KINDS, fleet.XCRATE, CONFIG_MAP, SECRET, fleet.USAGE)
"""What users have in the cluster: composite resources, claims, and what was composed for them."""
COMPOSED = {kind.kind for kind in (CONFIG_MAP, SECRET)}
PACKAGES = (FUNCTION, PROVIDER, REVISIONS["Function"], REVISIONS["Provider"], MANAGED)
RUNTIME = (DEPLOYMENT, SERVICE, SECRET)
LOCK = Kind("pkg.crossplane.io", "v1beta1", "Lock", "locks", False)
OURS = "crossply-no-usages"


class Migration:
    """The state that all tests of this file share: the cluster, its control plane, and its earlier state."""

    def __init__(self, runner: asyncio.Runner, planes: ControlPlanes, authority: str) -> None:
        self.runner, self.planes, self.authority = runner, planes, authority
        self.client = planes.client
        self._crossplane = contextlib.AsyncExitStack()
        self._crossply = contextlib.ExitStack()
        self.before: dict[str, dict] = {}

    def play(self, work):
        return self.runner.run(work)

    async def start_crossplane(self) -> None:
        await self._crossplane.enter_async_context(self.planes.run_crossplane())

    async def stop_crossplane(self) -> None:
        await self._crossplane.aclose()

    def start_crossply(self) -> None:
        self._crossply.enter_context(self.planes.run_crossply())

    def stop_crossply(self) -> None:
        self._crossply.close()

    async def look(self) -> dict[str, dict]:
        """Everything that must not change when another control plane takes over."""
        client = self.client
        return {
            "fleet": await read_all(client, FLEET, fleet.NAMESPACE),
            "packages": await read_all(client, (*PACKAGES, LOCK)),
            "runtime": await read_all(client, RUNTIME, HOME),
            "crds": await read_all(client, (CRD,)),
            "roles": await read_all(client, (CLUSTER_ROLE,)),
            "webhooks": await read_all(client, (WEBHOOKS,)),
        }

    async def settle(self, name: str) -> None:
        """Wait until a control plane that was started has composed new resources of every kind."""
        newcomers = [Member(kind, f"{kind.kind.lower()}-{name}") for kind in fleet.KINDS]
        await self.planes.write(*newcomers)
        for member in newcomers:
            await self.planes.until(member.kind, member.name, SYNCED, READY)

    async def refusal(self, member: Member) -> str:
        """Why something cannot be deleted."""
        try:
            await self.client.delete(member.kind, member.name, fleet.NAMESPACE)
        except KubeError as problem:
            return str(problem)
        return ""


@pytest.fixture(scope="module")
def directory() -> Iterator[pathlib.Path]:
    """Where logs are; they stay in CROSSPLY_TAKEOVER_DIR, if that is set."""
    configured = os.environ.get("CROSSPLY_TAKEOVER_DIR")
    with tempfile.TemporaryDirectory(prefix="crossply-takeover-") as temporary:
        path = pathlib.Path(configured or temporary)
        path.mkdir(exist_ok=True)
        yield path


@pytest.fixture(scope="module")
def migration(directory) -> Iterator[Migration]:
    """A cluster with a fleet that Crossplane composed, at rest."""
    cluster = own_cluster(str(directory / "cluster"))
    # Webhooks are found by EndpointSlices: no Service has an address that leads anywhere here.
    cluster.apiserver_flags = ("--enable-aggregator-routing=true",)
    cluster.etcd_flags = ("--unsafe-no-fsync",)
    (directory / "registry").mkdir()
    with (
        cluster,
        docker_registry(directory / "registry") as registry,
        ConnectProxy().running() as proxy,
        asyncio.Runner() as runner,
    ):
        stack = contextlib.AsyncExitStack()
        client = runner.run(stack.enter_async_context(connected(cluster.kubeconfig)))
        crossplane = Crossplane(cluster.kubeconfig, directory, proxy.address)
        with FunctionHost(client, proxy, directory) as host:
            migration = Migration(runner, ControlPlanes(client, crossplane, host, directory), cluster.ca_path)
            try:
                runner.run(_install_crossplane(migration, registry))
                yield migration
            finally:
                migration.stop_crossply()
                runner.run(migration.stop_crossplane())
                runner.run(stack.aclose())


async def _install_crossplane(migration: Migration, registry: str) -> None:
    planes = migration.planes
    await planes.crossplane.install_chart(migration.client)
    await planes.host.show_webhooks(planes.crossplane.webhook_port)
    await migration.start_crossplane()
    await planes.install_functions(registry)
    await planes.install_provider(registry)
    await planes.create_fleet()
    await migration.settle("first")
    migration.before = await migration.look()
    assert "it is precious" in await migration.refusal(fleet.PROTECTED)
    migration.before = await migration.look()


@pytest.fixture(scope="module")
def on_crossply(migration: Migration) -> Migration:
    """The cluster after Crossplane was stopped and Crossply was started, at rest."""
    migration.play(migration.stop_crossplane())
    migration.play(migration.planes.install_crossply(migration.authority))
    migration.start_crossply()
    migration.play(migration.settle("second"))
    return migration


@pytest.fixture(scope="module")
def after(on_crossply: Migration) -> dict[str, dict]:
    """What there is then."""
    return on_crossply.play(on_crossply.look())


def test_no_composite_claim_composed_resource_or_secret_is_written(on_crossply, after):
    assert len(fleet.members()) == 60
    assert rewritten(on_crossply.before["fleet"], after["fleet"]) == {}


def test_packages_and_their_revisions_stay_the_same(on_crossply, after):
    assert altered(on_crossply.before["packages"], after["packages"]) == {}
    assert set(after["packages"]) == set(on_crossply.before["packages"])


def test_deployments_services_and_certificates_stay_the_same(on_crossply, after):
    assert rewritten(on_crossply.before["runtime"], after["runtime"]) == {}


def test_crds_of_crossplane_lose_nothing(on_crossply, after):
    changes = {
        name: [
            place for place in lost(obj["spec"], after["crds"][key]["spec"]) if not _is_relaxed(name, place)
        ]
        for key, obj in on_crossply.before["crds"].items()
        for name in (key[2],)
    }
    assert {name: places for name, places in changes.items() if places} == {}


def _is_relaxed(crd: str, place: str) -> bool:
    """A Composition may have templates instead of a pipeline, and a package be in a local registry."""
    ends: tuple[str, ...] = ()
    if crd.startswith(("compositions.", "compositionrevisions.")):
        ends = (".spec.required", ".spec.x-kubernetes-validations", ".mode.enum", ".mode.default")
    elif crd.startswith(("configurations.", "functions.", "providers.")):
        ends = (".package.x-kubernetes-validations",)
    return any(end in place for end in ends)


def test_roles_of_crossplane_lose_no_rule(on_crossply, after):
    changes = {
        name: lost(obj.get("rules"), after["roles"][name].get("rules"))
        for name, obj in on_crossply.before["roles"].items()
    }
    assert {name: places for name, places in changes.items() if places} == {}


def test_the_webhook_configuration_of_crossplane_stays_and_ours_is_beside_it(on_crossply, after):
    assert rewritten(on_crossply.before["webhooks"], after["webhooks"]) == {}
    assert ("ValidatingWebhookConfiguration", "", OURS) in after["webhooks"]


def test_edits_are_followed_also_by_functions_that_crossplane_installed(on_crossply):
    async def scenario():
        planes = on_crossply.planes
        calls = planes.host.calls[SIZE_FUNCTION]
        edited = [Member(kind, f"{kind.kind.lower()}-3") for kind in fleet.KINDS]
        await planes.write(*edited, size="large")
        for member in edited:
            await planes.until_composed(member, size="large")
        assert planes.host.calls[SIZE_FUNCTION] > calls

    on_crossply.play(scenario())


def test_composition_changes_drift_and_deletions_are_followed(on_crossply):
    async def scenario():
        planes = on_crossply.planes
        await planes.compose("second")
        for kind in (fleet.BOX, fleet.CLIMATE, fleet.CRATE):
            for number in (0, fleet.COUNT - 1):
                member = Member(kind, f"{kind.kind.lower()}-{number}")
                await planes.until_composed(member, note="second")
        drifted = await planes.until_composed(Member(fleet.TALE, "tale-5"), size="small")
        body = {"data": {"size": "wrong"}}
        await on_crossply.client.patch_merge(CONFIG_MAP, drifted["metadata"]["name"], body, fleet.NAMESPACE)
        await planes.until_composed(Member(fleet.TALE, "tale-5"), size="small")
        for kind in fleet.KINDS:
            member = Member(kind, f"{kind.kind.lower()}-7")
            composed = (await planes.until_composed(member))["metadata"]["name"]
            await on_crossply.client.delete(member.kind, member.name, fleet.NAMESPACE)

            async def is_gone(kind=kind, name=member.name, composed=composed):
                return (
                    await on_crossply.client.get(kind, name, fleet.NAMESPACE) is None
                    and await on_crossply.client.get(CONFIG_MAP, composed, fleet.NAMESPACE) is None
                )

            await planes.eventually(is_gone, f"{member} is gone")

    on_crossply.play(scenario())


def test_packages_and_their_runtimes_are_still_the_same_after_that(on_crossply):
    later = on_crossply.play(on_crossply.look())
    assert altered(on_crossply.before["packages"], later["packages"]) == {}
    assert rewritten(on_crossply.before["runtime"], later["runtime"]) == {}
    kinds = {
        key: obj
        for key, obj in on_crossply.before["crds"].items()
        if key[2].endswith(".provider-things.example.org")
    }
    assert len(kinds) == 1, "one of the two kinds was activated"
    assert rewritten(kinds, later["crds"]) == {}
    assert not any(key[2].startswith("queues.provider-things") for key in later["crds"])


def test_an_object_in_use_stays_protected_by_either_and_by_both(on_crossply):
    async def scenario():
        # Crossplane's own configuration still names it, and its server does not answer: that refuses as well.
        assert await on_crossply.refusal(fleet.PROTECTED)
        await on_crossply.start_crossplane()
        assert "it is precious" in await on_crossply.refusal(fleet.PROTECTED)

    on_crossply.play(scenario())
    on_crossply.stop_crossply()

    async def rest():
        # No server answers for our configuration any more, which refuses as well, until it is deleted.
        assert await on_crossply.refusal(fleet.PROTECTED)
        await on_crossply.client.delete(WEBHOOKS, OURS)
        assert "it is precious" in await on_crossply.refusal(fleet.PROTECTED)

    on_crossply.play(rest())


@pytest.fixture(scope="module")
def back_on_crossplane(on_crossply: Migration) -> Migration:
    """The cluster after Crossplane alone runs it again, at rest."""
    on_crossply.stop_crossply()
    on_crossply.play(on_crossply.stop_crossplane())
    on_crossply.before = on_crossply.play(on_crossply.look())
    on_crossply.play(on_crossply.start_crossplane())
    on_crossply.play(on_crossply.settle("third"))
    return on_crossply


def test_crossplane_takes_the_cluster_back_unchanged(back_on_crossplane):
    after = back_on_crossplane.play(back_on_crossplane.look())
    # Of composite resources that Crossply composed first, Crossplane begins to own the fields that it sets.
    assert altered(back_on_crossplane.before["fleet"], after["fleet"]) == {}
    composed = {key: obj for key, obj in back_on_crossplane.before["fleet"].items() if key[0] in COMPOSED}
    assert rewritten(composed, after["fleet"]) == {}
    assert altered(back_on_crossplane.before["packages"], after["packages"]) == {}
    assert rewritten(back_on_crossplane.before["runtime"], after["runtime"]) == {}


def test_crossplane_reconciles_edits_after_that(back_on_crossplane):
    async def scenario():
        planes = back_on_crossplane.planes
        edited = [Member(kind, f"{kind.kind.lower()}-4") for kind in fleet.KINDS]
        await planes.write(*edited, size="huge")
        for member in edited:
            await planes.until_composed(member, size="huge")

    back_on_crossplane.play(scenario())
