"""`trace` of managed resources that no provider reconciles."""

from __future__ import annotations

import pytest

from crossply.kube.core_kinds import CRD
from crossply.kube.discovery import Discovery
from crossply.kube.kind import Kind
from crossply.resource_tree.node import Node
from crossply.resource_tree.reconciling_provider import inactive_origin, provider_origin
from tests.support.cli.trace_cluster import (
    CREATING,
    NAMESPACE,
    SYNCED,
    composed,
    condition,
    definition,
    refs,
    resource,
    to,
)
from tests.support.control.runtimes import eventually

SKY = "sky.test/v1"
REVISION = Kind("pkg.crossplane.io", "v1", "ProviderRevision", "providerrevisions", False)
EXTENSIONS = "apiextensions.crossplane.io"


@pytest.fixture(scope="module")
def sky(world):
    """An XR that composed a Cloud, whose Provider is not healthy, and a Star, whose kind is inactive."""

    async def define(client):
        revision = await client.get(REVISION, "sky-now")
        cloud = definition("Cloud", "sky.test")
        owner = {"apiVersion": "pkg.crossplane.io/v1", "kind": "ProviderRevision", "name": "sky-now"}
        owner |= {"uid": revision["metadata"]["uid"], "controller": True}
        cloud["metadata"]["ownerReferences"] = [owner]
        kinds = ("ManagedResourceDefinition", "ManagedResourceActivationPolicy")
        plurals = ("managedresourcedefinitions", "managedresourceactivationpolicies")
        extension_crds = [
            definition(kind, EXTENSIONS, "Cluster", ("v1alpha1",), plural=plural)
            for kind, plural in zip(kinds, plurals, strict=True)
        ]
        for crd in (cloud, *extension_crds):
            await client.create(CRD, crd)

        async def served():
            discovery = Discovery(client)
            await discovery.refresh()
            await discovery.kind_for(f"{EXTENSIONS}/v1alpha1", kinds[1])
            return await discovery.kind_for(SKY, "Cloud")

        await eventually(served)

    world.run(define)
    version = f"{EXTENSIONS}/v1alpha1"
    unready = condition("Ready", "False", "Creating", "Unready resources: the-c1")
    cloud = composed("Cloud", "c1", spec={"forProvider": {}})
    world.put(
        resource(
            "Shop", "overcast", SYNCED, unready, spec=refs(to("Cloud", "c1", SKY), to("Star", "s", SKY))
        ),
        {**cloud, "apiVersion": SKY},
        {
            "apiVersion": version,
            "kind": "ManagedResourceDefinition",
            "metadata": {"name": "stars.sky.test"},
            "spec": {"state": "Inactive", "names": {"kind": "Star", "plural": "stars"}},
        },
    )
    return world


def test_the_provider_that_does_not_run_and_the_inactive_kind_are_named(sky, trace) -> None:
    _, out, err = trace(f"shop overcast -n {NAMESPACE} -o wide")
    lines = err.splitlines()
    assert (
        "  Cloud/c1 (town): its kind comes from Provider sky, which is not running: "
        "UnhealthyPackageRevision: no such image"
    ) in lines
    assert "    next: crossply explain providers.pkg.crossplane.io/sky" in lines
    [star] = [line for line in lines if line.startswith("  Star/s")]
    assert star.endswith(
        'no matches for kind "Star" in version "sky.test/v1"; its ManagedResourceDefinition stars.sky.test '
        "is inactive; a ManagedResourceActivationPolicy whose spec.activate has stars.sky.test activates it"
    )
    assert (
        """    next: kubectl patch mrd stars.sky.test --type=merge -p '{"spec":{"state":"Active"}}'"""
        in lines
    )
    assert "Provider" not in out, "what Crossplane prints stays as it is"


def test_a_managed_resource_itself_is_explained(sky, trace) -> None:
    _, _, err = trace(f"clouds.sky.test c1 -n {NAMESPACE} -o wide")
    assert "nothing has reconciled it yet; its kind comes from Provider sky, which is not running" in err


def provider(*conditions, name="p"):
    metadata = {"name": name}
    body = {"apiVersion": "pkg.crossplane.io/v1", "kind": "Provider", "metadata": metadata}
    return Node({**body, "status": {"conditions": list(conditions)}})


INSTALLED = condition("Installed", "True", "ActivePackageRevision")


@pytest.mark.parametrize(
    ("conditions", "state", "running"),
    [
        ((), "is not installed: it has not reported yet", False),
        ((condition("Installed", "False", "Unpacking", "no"),), "is not installed: Unpacking: no", False),
        ((INSTALLED,), "is not running: it has not reported yet", False),
        (
            (INSTALLED, condition("Healthy", "True", "AwaitingActivation")),
            "is not running: it waits until one of its kinds is activated",
            False,
        ),
        (
            (INSTALLED, condition("Healthy", "True", "HealthyPackageRevision")),
            "is healthy and has not reconciled it yet",
            True,
        ),
        ((INSTALLED, CREATING), "is not running: it has not reported yet", False),
    ],
)
def test_the_state_of_a_provider_is_shown(conditions, state, running) -> None:
    origin, is_running = provider_origin(provider(*conditions))
    assert (origin.why, is_running) == (f"its kind comes from Provider p, which {state}", running)


@pytest.mark.parametrize(
    ("policies", "command"),
    [
        (
            {"default": ["*.sky.test"]},
            f"kubectl describe managedresourceactivationpolicies.{EXTENSIONS} default",
        ),
        (
            {"mine": ["x"]},
            """kubectl patch mrap mine --type=json -p """
            """'[{"op":"add","path":"/spec/activate/-","value":"stars.sky.test"}]'""",
        ),
    ],
)
def test_the_policy_that_would_activate_a_kind_is_named(policies, command) -> None:
    objects = [
        {"metadata": {"name": name}, "spec": {"activate": patterns}} for name, patterns in policies.items()
    ]
    assert inactive_origin("stars.sky.test", "sky", objects).command == command
