"""Providers: their kinds, the roles for those, and their webhooks."""

from __future__ import annotations

import pytest

from crossply.control.package_manager.provider_role_reconciler import family_references
from crossply.control.package_manager.provider_roles import roles_of_provider
from crossply.kube.kind import Kind
from tests.support.chart_installation import CLUSTER_ROLE
from tests.support.e2e.packages import (
    CONFIGURATION,
    PROVIDER,
    Packages,
    composition,
    condition_message,
    crd,
    definition,
)
from tests.support.e2e.pipelines import entry, resources
from tests.support.e2e.scenario import CRD, DEFINITION, Scenario, condition
from tests.support.programs import needs

pytestmark = [
    needs("docker-registry"),
    pytest.mark.xdist_group("packages"),
]
READY = condition("Ready", "True")
WEBHOOKS = Kind(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    False,
)
MANAGED = "ManagedResourceDefinition"
EXTRA = ("secrets", "configmaps", "events", "leases")
REVISION_HEALTHY = condition("RevisionHealthy", "True", "HealthyPackageRevision")


async def test_the_kinds_of_a_provider_can_be_composed_at_once(s: Scenario, registry):
    """Its kinds have roles, aggregated into those of composers and users."""

    packages, group = Packages(s, registry), f"cloud.{s.group}"
    await packages.push("provider-x:v1.0.0", "Provider", crd(group))
    bucket = {"apiVersion": f"{group}/v1", "kind": "Bucket", "metadata": {"name": s.id}}
    step = resources(entry("bucket", base=bucket))
    await packages.push("platform:v1.0.0", "Configuration", definition(s), composition(s, step))
    provider = await packages.install(PROVIDER, "provider-x:v1.0.0")
    revision = await packages.revision(PROVIDER, provider, REVISION_HEALTHY)
    name = f"crossplane:provider:{revision['metadata']['name']}"
    edit = await s.client.get(CLUSTER_ROLE, f"{name}:aggregate-to-edit")
    assert edit["metadata"]["labels"]["rbac.crossplane.io/aggregate-to-crossplane"] == "true"
    assert edit["rules"] == [
        {"apiGroups": [group], "resources": ["buckets", "buckets/status"], "verbs": ["*"]}
    ]
    system = await s.client.get(CLUSTER_ROLE, f"{name}:system")
    granted = {resource for rule in system["rules"] for resource in rule["resources"]}
    assert {"buckets", "buckets/finalizers", "secrets", "configmaps", "events", "leases"} <= granted
    platform = await packages.install(CONFIGURATION, "platform:v1.0.0")
    await s.until(DEFINITION, s.xrs.resource, condition("Established", "True"))
    xr = {"apiVersion": s.api_version, "kind": s.xrs.kind, "metadata": {"name": s.id}, "spec": {}}
    await s.client.apply(s.xrs, xr, "test")
    await s.until(s.xrs, s.id, READY)
    assert await s.client.get(Kind(group, "v1", "Bucket", "buckets", False), s.id)
    await s.client.delete(s.xrs, s.id)
    await s.until_gone(s.xrs, s.id)
    await packages.remove(CONFIGURATION, platform)
    await packages.remove(PROVIDER, provider)
    await s.until_gone(CLUSTER_ROLE, f"{name}:aggregate-to-edit")


async def test_a_reinstalled_provider_takes_over_the_waiting_resources(s: Scenario, registry):
    """A configuration in use is released by the provider alone, which was deleted too early."""

    packages, group = Packages(s, registry), f"early.{s.group}"
    configs = Kind(group, "v1", "ProviderConfig", "providerconfigs", False)
    await packages.push("provider-early:v1.0.0", "Provider", crd(group, "ProviderConfig"))
    provider = await packages.install(PROVIDER, "provider-early:v1.0.0")
    await packages.revision(PROVIDER, provider, REVISION_HEALTHY)
    await s.until(CRD, configs.resource, condition("Established", "True"))
    head = {"apiVersion": configs.api_version, "kind": configs.kind}
    metadata = {"name": s.id, "finalizers": ["example.org/in-use"]}
    await s.client.create(configs, {**head, "metadata": metadata})
    first = await s.client.get(CRD, configs.resource)
    await s.client.delete(PROVIDER, provider)
    await s.until(CRD, configs.resource, condition("Terminating", "True"))
    await s.until_gone(PROVIDER, provider)
    provider = await packages.install(PROVIDER, "provider-early:v1.0.0")
    await packages.revision(PROVIDER, provider, REVISION_HEALTHY)
    await s.client.patch_merge(configs, s.id, {"metadata": {"finalizers": None}})
    is_new = lambda obj: obj["metadata"]["uid"] != first["metadata"]["uid"]  # noqa: E731
    await s.until(CRD, configs.resource, is_new)
    await s.until(CRD, configs.resource, condition("Established", "True"))
    await packages.remove(PROVIDER, provider)


async def test_a_provider_cannot_bring_a_kind_of_the_control_plane_itself(s: Scenario, registry):
    packages = Packages(s, registry)
    wicked = crd("pkg.crossplane.io", "Function")
    await packages.push("provider-x:v1.0.0", "Provider", wicked, crd(f"cloud.{s.group}"))
    name = await packages.install(PROVIDER, "provider-x:v1.0.0")
    refused = await packages.revision(PROVIDER, name, condition("RevisionHealthy", "False"))
    assert condition_message(refused, "RevisionHealthy") == (
        "cannot establish control of object: functions.pkg.crossplane.io is already controlled by the "
        "control plane itself"
    )
    assert await s.client.get(CRD, f"buckets.cloud.{s.group}") is None
    await packages.remove(PROVIDER, name)


async def test_a_provider_cannot_bring_a_kind_of_the_api_server(s: Scenario, registry):
    """Its roles would grant the right to the built-in kind to every user of packages."""

    packages = Packages(s, registry)
    wicked = crd("scheduling.k8s.io", "PriorityClass")
    wicked["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, a test"}
    await packages.push("provider-x:v1.0.0", "Provider", wicked)
    name = await packages.install(PROVIDER, "provider-x:v1.0.0")
    refused = await packages.revision(PROVIDER, name, condition("RevisionHealthy", "False"))
    assert condition_message(refused, "RevisionHealthy") == (
        "cannot establish control of object: CustomResourceDefinition "
        f"{wicked['metadata']['name']} is protected: "
        "the API server itself serves the API group scheduling.k8s.io"
    )
    assert await s.client.get(CRD, wicked["metadata"]["name"]) is None
    role = f"crossplane:provider:{refused['metadata']['name']}:aggregate-to-edit"
    assert await s.client.get(CLUSTER_ROLE, role) is None
    await packages.remove(PROVIDER, name)


def test_no_role_grants_built_in_kinds_or_kinds_of_the_control_plane():
    revision = {
        "apiVersion": PROVIDER.api_version,
        "kind": "ProviderRevision",
        "metadata": {"name": "x", "uid": "u"},
    }
    names = (
        "clusterroles.rbac.authorization.k8s.io",
        "providers.pkg.crossplane.io",
        "pods.",
        "bs.example.org",
    )
    references = [{"kind": kind, "name": name} for kind in (CRD.kind, MANAGED) for name in names]
    roles = roles_of_provider(revision, references)
    granted = {
        (group, resource.partition("/")[0])
        for role in roles
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    extra = {(group, kind) for group in ("", "coordination.k8s.io") for kind in EXTRA}
    assert granted == {("example.org", "bs"), *extra}


@pytest.mark.parametrize(
    ("image", "label", "is_granted"),
    [
        ("example.org/team/provider-config:v1", "aws", True),
        ("example.org/others/provider-config:v1", "aws", False),
        ("example.org/team/provider-config:v1", "azure", False),
    ],
)
def test_a_provider_may_use_the_kinds_of_its_family(image, label, is_granted):
    """Of those that come from the same organization."""

    def revision(name, source, family, plural):
        return {
            "apiVersion": PROVIDER.api_version,
            "kind": "ProviderRevision",
            "metadata": {"name": name, "labels": {"pkg.crossplane.io/provider-family": family}, "uid": name},
            "spec": {"image": source},
            "status": {"objectRefs": [{"kind": CRD.kind, "name": f"{plural}.cloud.example.org"}]},
        }

    own = revision("own", "example.org/team/provider-s3:v1", "aws", "buckets")
    other = revision("other", image, label, "providerconfigs")
    family = [member for member in (own, other) if member["metadata"]["labels"] == own["metadata"]["labels"]]
    *_, system = roles_of_provider(own, family_references(own, family))
    granted = {resource for rule in system["rules"] for resource in rule["resources"]}
    assert ("providerconfigs/status" in granted) == is_granted


async def test_the_webhooks_of_a_provider_lead_to_its_service(s: Scenario, registry):
    """Its runtime makes a certificate for them first, whether or not it can be run."""

    packages, group = Packages(s, registry), f"cloud.{s.group}"
    rule = {
        "apiGroups": [group],
        "apiVersions": ["*"],
        "operations": ["CREATE"],
        "resources": ["buckets"],
    }
    webhook = {
        "name": f"buckets.{group}",
        "clientConfig": {"service": {"name": "x", "namespace": "y", "path": "/validate"}},
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    hooks = {
        "apiVersion": WEBHOOKS.api_version,
        "kind": WEBHOOKS.kind,
        "metadata": {"name": "validating-webhook-configuration"},
        "webhooks": [webhook],
    }
    await packages.push("provider-x:v1.0.0", "Provider", crd(group), hooks)
    name = await packages.install(PROVIDER, "provider-x:v1.0.0")
    await packages.revision(PROVIDER, name, REVISION_HEALTHY)
    configuration = await s.client.get(WEBHOOKS, f"crossplane-provider-{name}")
    [client] = [webhook["clientConfig"] for webhook in configuration["webhooks"]]
    assert client["service"] == {
        "name": name,
        "namespace": "crossplane-system",
        "port": 9443,
        "path": "/validate",
    }
    assert client["caBundle"]
    await packages.remove(PROVIDER, name)
    await s.until_gone(WEBHOOKS, f"crossplane-provider-{name}")
