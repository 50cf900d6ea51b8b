"""Definitions (reference: definitions §§1–7): kinds that start, change and stop while the plane runs."""

from __future__ import annotations

import asyncio
import copy
import itertools

import pytest

from crossply.kube.failures import Invalid, NotFound
from crossply.kube.kind import Kind
from tests.support.e2e.pipelines import SIZE, entry, resources
from tests.support.e2e.scenario import CONFIG_MAP, CRD, DEFINITION, NAMESPACE, condition
from tests.support.e2e.things import (
    DEFINITION_V2,
    READY,
    SCHEMA,
    SYNCED,
    Things,
    custom_kind,
    failing,
    until_event_recorded,
)

pytestmark = pytest.mark.xdist_group("e2e")

TERMINATING = condition("Established", "False", "TerminatingCompositeResource")


def version(name="v1", referenceable=True, served=True, **properties):
    """A version of the kind, with more in its spec."""
    schema = copy.deepcopy(SCHEMA)
    schema["properties"]["spec"]["properties"].update(properties)
    return {
        "name": name,
        "served": served,
        "referenceable": referenceable,
        "schema": {"openAPIV3Schema": schema},
    }


@pytest.mark.parametrize(
    ("scope", "crd_scope"),
    [("Namespaced", "Namespaced"), ("Cluster", "Cluster"), ("LegacyCluster", "Cluster")],
)
async def test_a_definition_becomes_a_crd(s, scope, crd_scope):
    things = Things(s, scope)
    await things.define(metadata={"labels": {"a": "b"}, "annotations": {"c": "d"}})
    xrd = await things.established()
    crd = await s.client.get(CRD, things.kind.resource)
    assert crd["spec"]["scope"] == crd_scope
    assert crd["spec"]["names"]["categories"] == ["composite"]
    assert crd["metadata"]["labels"] == {"a": "b"}
    assert crd["metadata"]["annotations"] == {"c": "d"}
    [owner] = crd["metadata"]["ownerReferences"]
    assert (owner["uid"], owner["controller"]) == (xrd["metadata"]["uid"], True)
    [crd_version] = crd["spec"]["versions"]
    assert (crd_version["storage"], "status" in crd_version["subresources"]) == (True, True)
    columns = [column["name"] for column in crd_version["additionalPrinterColumns"]]
    assert columns == ["SYNCED", "READY", "COMPOSITION", "COMPOSITIONREVISION", "AGE"]
    spec = crd_version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    engine = spec if scope == "LegacyCluster" else spec["crossplane"]["properties"]
    assert {"compositionRef", "resourceRefs", "compositionUpdatePolicy"} <= set(engine)
    type_ref = xrd["status"]["controllers"]["compositeResourceType"]
    assert type_ref == {"apiVersion": things.kind.api_version, "kind": "Thing"}
    assert "defined.apiextensions.crossplane.io" in xrd["metadata"]["finalizers"]
    applied = f"Applied composite resource CustomResourceDefinition: {things.kind.resource}"
    await until_event_recorded(s, xrd, "Normal", "EstablishComposite", applied)


async def test_a_changed_schema_holds_for_the_next_xr(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("mine", {"size": "3"})
    await things.until("mine", READY)
    limited = version(size={"type": "string", "maxLength": 3})
    await things.define(versions=[limited])

    names = itertools.count()

    async def refused():
        try:
            await things.apply(f"long-{next(names)}", {"size": "12345"})
        except Invalid as problem:
            return "spec.size" in str(problem)
        return False

    await s.eventually(refused)
    await things.apply("short", {"size": "12"})
    await things.until("short", READY)


async def test_a_new_default_is_composed(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await things.define(versions=[version(size={"type": "string", "default": "7"})])
    crd = f"{things.kind.resource}"
    await s.until(CRD, crd, lambda crd: '"default": "7"' in str(crd).replace("'", '"'))
    await asyncio.sleep(0.2)  # kube-apiserver needs some time to serve a changed schema
    await things.apply("mine")
    xr = await things.until("mine", READY)
    assert (await things.composed(xr))["one"]["data"] == {"size": "7"}


async def test_xrs_of_every_served_version_are_reconciled(s):
    things = Things(s)
    await things.define(versions=[version()])
    await things.established()
    await things.compose(resources(entry("one", SIZE)))
    await things.define(versions=[version(), version("v2", referenceable=False)])
    newer = Kind(s.group, "v2", "Thing", "things", True)
    body = {**things.body("mine", {"size": "3"}), "apiVersion": f"{s.group}/v2"}

    async def accepted():
        try:
            return await s.client.apply(newer, body, "test")
        except NotFound:
            return None

    await s.eventually(accepted)
    xr = await things.until("mine", SYNCED, READY)
    assert (await things.composed(xr))["one"]["data"] == {"size": "3"}


async def test_another_referenceable_version_needs_other_compositions(s):
    """Measured on Crossplane (reconcile §18): existing XRs report that their Composition does not fit."""

    things = Things(s)
    await things.define(versions=[version(), version("v2", referenceable=False)])
    await things.established()
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("mine", {"size": "3"})
    await things.until("mine", READY)
    await things.define(versions=[version(referenceable=False), version("v2")])
    await things.until("mine", failing("referenced composition is not compatible"))


async def as_if_updated(s, name):
    """Leave a CRD as one that was written by updates, which is how Crossplane writes it."""
    crd = await s.client.get(CRD, name)
    entries = [
        {**managed_fields, "operation": "Update"} for managed_fields in crd["metadata"]["managedFields"]
    ]
    patch = [{"op": "replace", "path": "/metadata/managedFields", "value": entries}]
    await s.client.patch_json(CRD, name, patch)


@pytest.mark.parametrize("updated", [False, True], ids=["applied", "updated"])
async def test_versions_that_a_definition_drops_leave_its_crds(s, updated):
    """Also where another control plane wrote the CRD by updates."""

    async def scenario(s):
        things = Things(s, scope="LegacyCluster")
        claim = {"kind": "Item", "plural": "items"}
        column = {"name": "Size", "type": "string", "jsonPath": ".spec.size"}
        wide = {**version(), "additionalPrinterColumns": [column]}
        await things.define(
            claimNames=claim,
            versions=[wide, version("v2", referenceable=False)],
            metadata={"labels": {"team": "blue"}, "annotations": {"note": "x"}},
        )
        crds = (f"things.{s.group}", f"items.{s.group}")
        for crd in crds:
            await s.until(CRD, crd, condition("Established", "True"))
            if updated:
                await as_if_updated(s, crd)
        await things.define(claimNames=claim, versions=[version()])
        for crd in crds:
            await s.until(CRD, crd, has_less)

    def has_less(crd):
        versions = crd["spec"]["versions"]
        return (
            [crd_version["name"] for crd_version in versions] == ["v1"]
            and "Size" not in [column["name"] for column in versions[0]["additionalPrinterColumns"]]
            and not {"labels", "annotations"} & set(crd["metadata"])
        )

    await scenario(s)


async def test_a_foreign_category_of_a_crd_is_removed(s):
    """The names of a definition cannot change; those of its CRD are put back."""

    things = await Things.defined(s)
    more = {"spec": {"names": {"categories": ["composite", "everything"]}}}
    await s.client.patch_merge(CRD, things.kind.resource, more)
    await s.until(CRD, things.kind.resource, lambda crd: crd["spec"]["names"]["categories"] == ["composite"])


async def test_a_crd_of_a_definition_without_a_controller_is_adopted(s):
    """For example one that was restored without its owner."""

    kind = await custom_kind(s, "Thing")
    rendered = {"spec": {"names": {"categories": ["composite"]}}}
    before = await s.client.patch_merge(CRD, kind.resource, rendered)
    things = await Things.defined(s)
    after = await s.client.get(CRD, things.kind.resource)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["metadata"]["ownerReferences"][0]["controller"]


async def test_a_crd_of_another_origin_is_not_adopted(s):
    kind = await custom_kind(s, "Thing")
    before = await s.client.get(CRD, kind.resource)
    await Things(s).define()
    await s.until(DEFINITION, kind.resource, condition("Established", "False", "ProtectedKind"))
    await s.client.delete(DEFINITION, kind.resource)
    await s.until_gone(DEFINITION, kind.resource)
    after = await s.client.get(CRD, kind.resource)
    assert (after["spec"], after["metadata"]["uid"]) == (before["spec"], before["metadata"]["uid"])


async def test_a_crd_with_another_controller_is_left_alone(s):
    kind = await custom_kind(s, "Thing")
    home = await s.client.get(NAMESPACE, s.id)
    uid = home["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "Namespace", "name": s.id, "uid": uid, "controller": True}
    owner_patch = {"metadata": {"ownerReferences": [owner]}}
    before = await s.client.patch_merge(CRD, kind.resource, owner_patch)
    things = Things(s)
    xrd = await things.define()

    async def warning_events():
        return [e for e in await s.events(xrd) if e[:2] == ("Warning", "EstablishComposite")]

    await s.eventually(warning_events)
    after = await s.client.get(CRD, kind.resource)
    assert after["metadata"]["ownerReferences"] == [owner]
    assert after["spec"] == before["spec"]
    assert not condition("Established", "True")(await s.client.get(DEFINITION, kind.resource))
    # Nor does it go with the definition.
    await s.client.delete(DEFINITION, kind.resource)
    await s.until_gone(DEFINITION, kind.resource)
    assert "deletionTimestamp" not in (await s.client.get(CRD, kind.resource))["metadata"]


async def test_names_in_use_block_a_definition(s):
    """The API server does not accept the names of another kind; once they are free, all is well."""

    other_kind = await custom_kind(s, "Thing")
    things = Things(s)
    things.kind = Kind(s.group, "v1", "Thing", "otherthings", True)
    await things.define()
    crd = await s.until(CRD, things.kind.resource, condition("NamesAccepted", "False"))
    assert not condition("Established", "True")(crd)
    xrd = await s.client.get(DEFINITION, things.kind.resource)
    assert not condition("Established", "True")(xrd)
    await s.client.delete(CRD, other_kind.resource)
    await things.established()
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("mine", {"size": "3"})
    await things.until("mine", READY)


@pytest.mark.parametrize("scope", ["Cluster", "LegacyCluster"])
@pytest.mark.embedded_only("a kind that is gone before the garbage collector saw it keeps its dependents")
async def test_a_definition_takes_its_cluster_scoped_xrs_with_it(s, scope):
    things = await Things.defined(s, scope)
    base = {"metadata": {"namespace": s.id}}
    await things.compose(resources(entry("one", SIZE, base=base)))
    for number in range(3):
        await things.apply(f"{s.id}-{number}", {"size": "3"})
    composed_names = [
        things.references(await things.until(f"{s.id}-{n}", READY))[0]["name"] for n in range(3)
    ]
    await s.client.delete(DEFINITION, things.kind.resource)
    await s.until_gone(DEFINITION, things.kind.resource)
    assert await s.client.get(CRD, things.kind.resource) is None
    for name in composed_names:
        await s.until_gone(CONFIG_MAP, name)


async def test_a_definition_waits_for_namespaced_xrs(s):
    """Those are their users': the definition goes when they are gone, and they are composed until then."""

    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("mine", {"size": "3"})
    xr = await things.until("mine", READY)
    await s.client.delete(DEFINITION, things.kind.resource)
    await s.until(DEFINITION, things.kind.resource, TERMINATING)
    await things.apply("mine", {"size": "4"})
    name = things.references(xr)[0]["name"]
    await s.until(CONFIG_MAP, name, lambda obj: obj["data"] == {"size": "4"})
    await things.delete("mine")
    await s.until_gone(DEFINITION, things.kind.resource)
    assert await s.client.get(CRD, things.kind.resource) is None


async def test_a_waiting_definition_names_its_xrs_and_how_to_delete_them(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("mine", {"size": "3"})
    await things.until("mine", READY)
    await s.client.delete(DEFINITION, things.kind.resource)
    resource = things.kind.resource
    message = (
        f"waiting for defined composite resources to be deleted: {s.id}/mine; list them with kubectl get "
        f"{resource} -A, and delete those of a namespace with kubectl delete {resource} --all "
        "-n NAMESPACE"
    )

    def is_explained(xrd):
        return any(
            (status_condition["reason"], status_condition.get("message"))
            == ("TerminatingCompositeResource", message)
            for status_condition in xrd["status"]["conditions"]
        )

    xrd = await s.until(DEFINITION, resource, is_explained)
    await until_event_recorded(s, xrd, "Normal", "TerminateComposite", message)
    await things.delete("mine")
    await s.until_gone(DEFINITION, resource)


async def test_a_definition_waits_for_xrs_that_something_holds(s):
    """Its controller stops last, so that the finalizers of XRs are worked off."""

    things = await Things.defined(s, "Cluster")
    base = {"metadata": {"namespace": s.id}}
    await things.compose(resources(entry("one", SIZE, base=base)))
    await things.apply(s.id, {"size": "3"}, finalizers=["example.org/held"])
    await things.until(s.id, READY)
    await s.client.delete(DEFINITION, things.kind.resource)
    await s.until(DEFINITION, things.kind.resource, TERMINATING)
    finalizers = ["example.org/held"]
    await things.until(s.id, lambda xr: xr["metadata"].get("finalizers") == finalizers)
    assert await s.client.get(CRD, things.kind.resource) is not None
    await things.change(s.id, {"metadata": {"finalizers": None}})
    await s.until_gone(DEFINITION, things.kind.resource)
    assert await s.client.get(CRD, things.kind.resource) is None


async def test_a_recreated_definition_works(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await s.client.delete(DEFINITION, things.kind.resource)
    await s.until_gone(DEFINITION, things.kind.resource)
    await things.define()
    await things.established()
    await things.apply("mine", {"size": "3"})
    await things.until("mine", READY)


async def test_a_changed_crd_is_restored(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", SIZE)))
    await things.apply("mine", {"size": "3"})
    await things.until("mine", READY)
    await s.client.patch_merge(CRD, things.kind.resource, {"spec": {"names": {"categories": []}}})
    await s.until(CRD, things.kind.resource, lambda crd: crd["spec"]["names"].get("categories"), 10)


async def test_both_versions_of_the_definition_kind_are_equivalent(s):
    """A v1 definition is LegacyCluster by default; read as v2 it still is."""

    things = Things(s, "LegacyCluster")
    await things.define()
    await things.established()
    read = await s.client.get(DEFINITION_V2, things.kind.resource)
    assert read["spec"]["scope"] == "LegacyCluster"


async def test_a_claim_that_is_called_like_its_xr_is_not_offered(s):
    things = Things(s, "LegacyCluster")
    claim = {"kind": "Thing", "plural": "claims"}
    xrd = await things.define(claimNames=claim)
    await things.established()

    async def conflict_events():
        return [e for e in await s.events(xrd) if "conflicts with composite resource name" in e[2]]

    [(type_, reason, _)] = await s.eventually(conflict_events)
    assert (type_, reason) == ("Warning", "OfferClaim")
    assert await s.client.get(CRD, f"claims.{s.group}") is None
