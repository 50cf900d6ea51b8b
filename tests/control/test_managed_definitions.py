"""ManagedResourceDefinitions of Providers: their CRDs, the owners of those, and their activation."""

from __future__ import annotations

import orjson
import pytest

from crossply.control.definitions.protected_crds import ProtectedKind
from crossply.control.kinds import ACTIVATION_POLICY, MANAGED_DEFINITION
from crossply.control.managed_definitions.activation_policy_reconciler import install_default_policy
from crossply.control.managed_definitions.managed_definition_reconciler import check_ownership
from crossply.control.package_manager.managed_definitions import Conversion
from crossply.control.package_manager.owner_references import AlreadyControlled
from crossply.control.package_manager.provider_roles import roles_of_provider
from crossply.kube.core_kinds import CRD, EVENT
from tests.support.control.managed_definitions import (
    CONVERTS,
    SAFELY,
    InstalledProvider,
    definitions_controlled,
    fields_of,
    with_field,
)
from tests.support.control.runtimes import eventually
from tests.support.e2e.packages import crd

pytestmark = pytest.mark.usefixtures("installed", "alone")


@pytest.fixture
async def provider(client, ns):
    for kind in (ACTIVATION_POLICY, MANAGED_DEFINITION):
        for data in (await client.list(kind)).items:
            await client.delete(kind, orjson.loads(data)["metadata"]["name"])
    async with definitions_controlled(client) as plane:
        yield InstalledProvider(client, plane, ns)


def policy(name, *patterns):
    head = {"apiVersion": ACTIVATION_POLICY.api_version, "kind": ACTIVATION_POLICY.kind}
    return {**head, "metadata": {"name": name}, "spec": {"activate": list(patterns)}}


def owner_names(obj):
    return {owner["name"]: owner.get("controller", False) for owner in obj["metadata"]["ownerReferences"]}


async def test_kinds_of_a_provider_become_definitions_and_their_crds_are_established(provider):
    revision = await provider.revision()
    config = crd(provider.group, "ProviderConfig")
    established = await provider.establish(revision, provider.crd, config)
    assert {(reference["kind"], reference["name"]) for reference in established.references} == {
        (MANAGED_DEFINITION.kind, provider.name),
        (CRD.kind, config["metadata"]["name"]),
    }
    definition = await provider.until_established()
    assert definition["spec"]["state"] == "Active"
    assert owner_names(definition) == {provider.package: False, f"{provider.package}-1": True}
    live = await provider.until_crd()
    assert owner_names(live) == {provider.name: False, f"{provider.package}-1": True}
    assert "apiextensions.crossplane.io/managed" in {
        entry["manager"] for entry in live["metadata"]["managedFields"]
    }
    [edit, *_] = roles_of_provider(revision, established.references)
    assert "buckets" in edit["rules"][0]["resources"]
    assert await eventually(lambda: _event(provider, "ApplyCustomResourceDefinition"))


async def _event(provider, reason, name=""):
    for data in (await provider.client.list(EVENT)).items:
        event = orjson.loads(data)
        if event["reason"] == reason and event["involvedObject"]["name"] == (name or provider.name):
            return event
    return None


async def test_a_safe_start_provider_has_no_crds_until_a_policy_activates_them(provider):
    await provider.establish(await provider.revision(), conversion=SAFELY)
    definition = await provider.until_established("InactiveManagedResource")
    assert definition["spec"]["state"] == "Inactive"
    assert await provider.client.get(CRD, provider.name) is None
    await provider.client.create(ACTIVATION_POLICY, policy(provider.package, f"*.{provider.group}"))
    await provider.until_established()

    async def healthy():
        live = await provider.client.get(ACTIVATION_POLICY, provider.package)
        return (live.get("status") or {}).get("activated") and live["status"]

    status = await eventually(healthy)
    assert status["activated"] == [provider.name]
    assert [(c["type"], c["status"], c["reason"]) for c in status["conditions"]] == [
        ("Healthy", "True", "Running")
    ]
    assert await eventually(lambda: _event(provider, "ActivateManagedResourceDefinition", provider.package))


async def test_an_active_definition_stays_active_without_its_policy_and_with_a_safer_package(provider):
    revision = await provider.revision()
    await provider.establish(revision)
    await provider.until_established()
    await provider.establish(revision, with_field(provider.crd, "size"), conversion=SAFELY)
    definition = await provider.until_established()
    assert definition["spec"]["state"] == "Active"
    await provider.until_crd(lambda live: fields_of(live) == {"size"})


async def test_a_new_revision_takes_over_definition_and_crd(provider):
    old = await provider.revision(1)
    established = await provider.establish(old, with_field(provider.crd, "old"))
    await provider.until_established()
    new = await provider.revision(2)
    await provider.establisher.release({**old, "status": {"objectRefs": established.references}})
    await provider.establish(new, with_field(provider.crd, "new"))
    live = await provider.until_crd(lambda live: fields_of(live) == {"new"})
    assert owner_names(live) == {provider.name: False, f"{provider.package}-2": True}


async def test_a_crd_from_before_definitions_goes_over_to_one_and_to_the_next_revision(provider):
    old = await provider.revision(1)
    await provider.establish(old, conversion=Conversion())
    assert (await provider.until_crd())["metadata"]["ownerReferences"]
    established = await provider.establish(old)
    await provider.until_established()
    new = await provider.revision(2)
    await provider.establisher.release({**old, "status": {"objectRefs": established.references}})
    await provider.establish(new, with_field(provider.crd, "new"))
    live = await provider.until_crd(lambda live: fields_of(live) == {"new"})
    assert owner_names(live)[f"{provider.package}-2"] is True
    assert sum(owner_names(live).values()) == 1


async def test_a_changed_or_deleted_crd_is_restored(provider):
    await provider.establish(await provider.revision())
    await provider.until_established()
    versions = with_field(provider.crd, "theirs")["spec"]["versions"]
    await provider.client.patch_merge(CRD, provider.name, {"spec": {"versions": versions}}, "", "them")
    await provider.until_crd(lambda live: not fields_of(live))
    uid = (await provider.until_crd())["metadata"]["uid"]
    await provider.client.delete(CRD, provider.name)
    await provider.until_crd(lambda live: live["metadata"]["uid"] != uid)


async def test_conversion_webhooks_go_through_definitions(provider):
    webhook = {
        "clientConfig": {"service": {"name": "p", "namespace": "x"}, "caBundle": "Y2VydA=="},
        "conversionReviewVersions": ["v1"],
    }
    two = orjson.loads(orjson.dumps(provider.crd))
    two["spec"]["versions"].append({**two["spec"]["versions"][0], "name": "v0", "storage": False})
    two["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    await provider.client.create(
        MANAGED_DEFINITION,
        {
            "apiVersion": MANAGED_DEFINITION.api_version,
            "kind": MANAGED_DEFINITION.kind,
            "metadata": {"name": provider.name},
            "spec": {**two["spec"], "state": "Active"},
        },
    )
    live = await provider.until_crd()
    assert [version["name"] for version in live["spec"]["versions"]] == ["v0", "v1"]
    client = live["spec"]["conversion"]["webhook"]["clientConfig"]
    assert (client["caBundle"], client["service"]["name"]) == ("Y2VydA==", "p")


async def test_without_conversion_there_are_crds_and_definitions_that_there_were_stay(provider):
    revision = await provider.revision()
    [reference] = (await provider.establish(revision, conversion=Conversion())).references
    assert reference["kind"] == CRD.kind
    [reference] = (await provider.establish(revision)).references
    assert reference["kind"] == MANAGED_DEFINITION.kind
    await provider.until_established()
    [reference] = (await provider.establish(revision, conversion=Conversion())).references
    assert reference["kind"] == MANAGED_DEFINITION.kind


@pytest.mark.parametrize("state", ["Active", "Inactive"])
async def test_a_definition_that_crossplane_installed_stays_as_it_is(provider, state):
    revision = await provider.revision()
    owners = [
        {
            "apiVersion": revision["apiVersion"],
            "kind": revision["kind"],
            "name": revision["metadata"]["name"],
            "uid": revision["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        },
        {**revision["metadata"]["ownerReferences"][0], "controller": False},
    ]
    await provider.client.create(
        MANAGED_DEFINITION,
        {
            "apiVersion": MANAGED_DEFINITION.api_version,
            "kind": MANAGED_DEFINITION.kind,
            "metadata": {"name": provider.name, "ownerReferences": owners},
            "spec": {**provider.crd["spec"], "state": state},
        },
        "crossplane",
    )
    active = state == "Active"
    before = await provider.until_established(
        "EstablishedManagedResource" if active else "InactiveManagedResource"
    )
    await provider.establish(revision, conversion=CONVERTS if active else SAFELY)
    after = await provider.client.get(MANAGED_DEFINITION, provider.name)
    assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


async def test_the_kind_of_another_provider_is_not_adopted(provider, ns):
    await provider.establish(await provider.revision())
    other = InstalledProvider(provider.client, provider.plane, ns)
    with pytest.raises(AlreadyControlled):
        await other.establish(await other.revision(), provider.crd)


def test_a_definition_grants_no_right_to_other_crds():
    definition = {"metadata": {"name": "buckets.example.org", "uid": "1"}}
    live = {"metadata": {"name": "buckets.example.org"}}
    with pytest.raises(ProtectedKind, match="exists already"):
        check_ownership(definition, live)
    theirs = {"kind": "ProviderRevision", "name": "p-1", "uid": "2", "controller": True}
    with pytest.raises(ProtectedKind, match="already controlled by ProviderRevision p-1"):
        check_ownership(definition, {"metadata": {**live["metadata"], "ownerReferences": [theirs]}})
    with pytest.raises(ProtectedKind, match="control plane itself"):
        check_ownership({"metadata": {"name": "functions.pkg.crossplane.io"}}, None)
    installed = {"metadata": {**definition["metadata"], "ownerReferences": [theirs]}}
    check_ownership(installed, live)
    check_ownership(definition, None)


async def test_the_default_policy_is_created_unless_another_decision_exists(provider):
    await install_default_policy(provider.plane, ())
    assert await provider.client.get(ACTIVATION_POLICY, "default") is None
    await provider.establish(await provider.revision(), conversion=SAFELY)
    await provider.until_established("InactiveManagedResource")
    await install_default_policy(provider.plane, ("*",))
    assert await provider.client.get(ACTIVATION_POLICY, "default") is None
    await provider.client.delete(MANAGED_DEFINITION, provider.name)

    async def created():
        await install_default_policy(provider.plane, ("*",))
        return await provider.client.get(ACTIVATION_POLICY, "default")

    assert (await eventually(created))["spec"] == {"activate": ["*"]}
