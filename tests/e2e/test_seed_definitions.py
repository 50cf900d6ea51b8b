"""The first design (seed 1): definitions, publications, requirements, and their contract, under control."""

from __future__ import annotations

import asyncio
import base64
import re

import pytest

from crossply.kube.failures import Invalid
from tests.e2e.first_design import (
    APPLICATION_DEFINITION,
    COMPOSITION,
    INFRASTRUCTURE_DEFINITION,
    PUBLICATION,
    READY,
    FirstDesign,
    engine,
    established,
    sql_name,
)
from tests.e2e.scenario import COMPOSITION as MODERN_COMPOSITION
from tests.e2e.scenario import CONFIG_MAP, CRD, SECRET, Scenario, condition

pytestmark = pytest.mark.xdist_group("e2e")

TYPE = {"apiVersion": "example.org/v1", "kind": "Any"}
WAITING = condition("Ready", "False", "Waiting")


def text(secret, key):
    return base64.b64decode(secret["data"][key]).decode()


def synced_false(*words):
    def check(obj):
        told = [each for each in (obj.get("status") or {}).get("conditions", ()) if each["type"] == "Synced"]
        return any(
            each["status"] == "False" and all(word in each["message"] for word in words) for each in told
        )

    return check


async def whole(s, **composition):
    design = FirstDesign(s)
    await design.serve_servers()
    await design.define_sql()
    await design.publish()
    await design.compose_sql(**composition)
    return design


def test_a_requirement_gets_infrastructure_and_a_copy_of_its_secret(play):
    async def scenario(s):
        design = await whole(s, writeConnectionSecretsToNamespace=s.id)
        await design.require(writeConnectionSecretToRef={"name": "sql"})
        sql = await design.bound()
        assert engine(sql)["requirementRef"]["name"] == "mine"
        assert engine(sql)["writeConnectionSecretToRef"] == {
            "name": sql["metadata"]["uid"],
            "namespace": s.id,
        }
        await s.until(design.requirements, "mine", WAITING)
        server = await s.until(
            design.servers,
            engine(sql)["composedRefs"][0]["name"],
            lambda found: found["spec"].get("storageMB"),
        )
        assert server["spec"]["storageMB"] == 10240
        await design.provide(sql)
        requirement = await s.until(design.requirements, "mine", READY)
        assert engine(requirement)["compositionRef"]["name"] == f"{s.id}-sqls"
        secret = await s.until(SECRET, "sql", lambda secret: secret.get("data"))
        # Only what the definition names, under its names.
        assert set(secret["data"]) == {"username", "endpoint"}
        assert (text(secret, "username"), text(secret, "endpoint")) == ("root", "here")

    play(scenario)


def test_what_is_changed_in_a_requirement_reaches_what_is_composed(play):
    async def scenario(s):
        design = await whole(s)
        await design.require()
        sql = await design.bound()
        await design.apply(design.requirements, "mine", {"region": "west", "storageGB": 20}, s.id)
        name = engine(sql)["composedRefs"][0]["name"]
        await s.until(design.servers, name, lambda server: server["spec"]["storageMB"] == 20480)

    play(scenario)


def test_infrastructure_goes_with_its_requirement_or_is_retained_for_the_next(play):
    async def scenario(s):
        design = await whole(s, reclaimPolicy="Retain")
        await design.compose_sql(f"{s.id}-gone", reclaimPolicy="Delete")
        await design.require("kept", compositionRef={"name": f"{s.id}-sqls"})
        await design.require("gone", compositionRef={"name": f"{s.id}-gone"})
        kept, gone = await design.bound("kept"), await design.bound("gone")
        assert engine(kept)["reclaimPolicy"] == "Retain"
        for name in ("kept", "gone"):
            await s.client.delete(design.requirements, name, s.id)
            await s.until_gone(design.requirements, name)
        await s.until_gone(design.sqls, gone["metadata"]["name"])
        free = await s.until(
            design.sqls, kept["metadata"]["name"], lambda sql: "requirementRef" not in engine(sql)
        )
        # What is retained can be bound by naming it.
        name = free["metadata"]["name"]
        ref = {"apiVersion": design.sqls.api_version, "kind": "Sql", "name": name}
        await design.require("next", resourceRef=ref)
        await s.until(
            design.sqls, name, lambda sql: engine(sql).get("requirementRef", {}).get("name") == "next"
        )
        assert sql_name(await s.until(design.requirements, "next", WAITING)) == name

    play(scenario)


def test_infrastructure_that_another_requirement_has_is_left_alone(play):
    async def scenario(s):
        design = await whole(s)
        await design.require("mine")
        sql = await design.bound("mine")
        ref = {
            "apiVersion": design.sqls.api_version,
            "kind": "Sql",
            "name": sql["metadata"]["name"],
        }
        await design.require("thief", resourceRef=ref)
        await s.until(design.requirements, "thief", synced_false("refusing to operate", "mine"))

    play(scenario)


@pytest.mark.parametrize(
    ("details", "told"),
    [
        ([{"fromConnectionSecretKey": "endpoint"}], 'no resource provides "username"'),
        (
            [
                {"fromConnectionSecretKey": "endpoint"},
                {"fromConnectionSecretKey": "username"},
                {"name": "username", "fromConnectionSecretKey": "admin"},
            ],
            '"username" is provided 2 times',
        ),
    ],
)
def test_a_composition_provides_each_connection_detail_exactly_once(play, details, told):
    async def scenario(s):
        design = FirstDesign(s)
        await design.serve_servers()
        await design.define_sql()
        base = {"apiVersion": design.servers.api_version, "kind": "Server", "spec": {}}
        await design.compose(design.sqls, to=[{"base": base, "connectionDetails": details}])
        await design.apply(design.sqls, "mine", {"region": "west"})
        await s.until(design.sqls, "mine", synced_false(told, design.sqls.resource))
        assert not (await s.client.list(design.servers)).items

    play(scenario)


def test_a_default_composition_is_used_and_a_forced_one_beats_the_choice(play):
    async def scenario(s):
        design = FirstDesign(s)
        await design.serve_servers()
        for name in ("cheap", "dear"):
            await design.compose_sql(f"{s.id}-{name}")
        reference = {"apiVersion": COMPOSITION.api_version, "kind": "Composition"}
        await design.define_sql(defaultComposition={**reference, "name": f"{s.id}-cheap"})
        await design.apply(design.sqls, "one", {})
        one = await s.until(design.sqls, "one", lambda sql: engine(sql).get("composedRefs"))
        assert engine(one)["compositionRef"]["name"] == f"{s.id}-cheap"
        await design.define_sql(forceComposition={**reference, "name": f"{s.id}-dear"})
        choice = {"compositionRef": {"name": f"{s.id}-cheap"}}
        await design.apply(design.sqls, "two", {"infrastructure": choice})
        two = await s.until(design.sqls, "two", lambda sql: engine(sql).get("composedRefs"))
        assert engine(two)["compositionRef"]["name"] == f"{s.id}-dear"

    play(scenario)


def blog_of(base):
    return {
        "base": base,
        "patches": [{"fromFieldPath": "spec.title", "toFieldPath": "data.title"}],
        "readinessChecks": [{"type": "None"}],
    }


def test_an_application_composes_in_its_namespace(play):
    async def scenario(s):
        design = FirstDesign(s)
        await design.define_blog()
        config_map = {"apiVersion": "v1", "kind": "ConfigMap"}
        await design.compose(design.blogs, to=[blog_of(config_map)])
        await design.apply(design.blogs, "mine", {"title": "hello"}, s.id)
        blog = await s.until(design.blogs, "mine", READY)
        [reference] = blog["spec"]["application"]["composedRefs"]
        settings = await s.client.get(CONFIG_MAP, reference["name"], s.id)
        assert settings is not None
        assert settings["data"] == {"title": "hello"}

    play(scenario)


@pytest.mark.parametrize("namespace", ["", "default"])
def test_an_application_may_not_compose_outside_of_namespaces(play, namespace):
    async def scenario(s):
        design = FirstDesign(s)
        await design.serve_servers()
        await design.define_blog()
        base = {"apiVersion": design.servers.api_version, "kind": "Server"}
        metadata = {"metadata": {"namespace": namespace}} if namespace else {}
        await design.compose(design.blogs, to=[{"base": {**base, **metadata}}])
        await design.apply(design.blogs, s.id, {"title": "hello"}, "default")
        await Scenario(s.client, "default").until(design.blogs, s.id, synced_false("cluster scoped"))
        assert not (await s.client.list(design.servers)).items

    play(scenario)


def test_infrastructure_may_not_compose_in_a_namespace(play):
    async def scenario(s):
        design = FirstDesign(s)
        await design.define_sql(connectionDetails=[])
        base = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": s.id}}
        await design.compose(design.sqls, to=[{"base": base}])
        await design.apply(design.sqls, "mine", {})
        await s.until(design.sqls, "mine", synced_false("ConfigMap", "namespace"))

    play(scenario)


@pytest.mark.parametrize("kind", [INFRASTRUCTURE_DEFINITION, APPLICATION_DEFINITION])
def test_a_definition_has_the_name_of_what_it_defines(play, kind):
    async def scenario(s):
        design = FirstDesign(s)
        spec = {"crdSpecTemplate": design.template(design.sqls)}
        with pytest.raises(Invalid, match="the name must be the plural and the group"):
            await design.apply(kind, f"others.{s.group}", spec)

    play(scenario)


def test_a_publication_says_what_it_misses_and_works_once_that_is_there(play):
    async def scenario(s):
        design = FirstDesign(s)
        reference = {"infrastructureDefinitionReference": {"name": design.sqls.resource}}
        await design.apply(PUBLICATION, design.sqls.resource, reference)
        await s.until(PUBLICATION, design.sqls.resource, condition("Offered", "False", "CannotOffer"))
        await design.define_sql()
        await design.publish()

    play(scenario)


def test_a_definition_is_published_once_under_its_own_name(play):
    async def scenario(s):
        design = await whole(s)
        reference = {"infrastructureDefinitionReference": {"name": design.sqls.resource}}
        await design.apply(PUBLICATION, s.id, reference)
        await s.until(PUBLICATION, s.id, condition("Offered", "False", "CannotOffer"))
        await s.client.delete(PUBLICATION, s.id)
        await s.until_gone(PUBLICATION, s.id)
        assert await s.client.get(CRD, design.requirements.resource)

    play(scenario)


def test_a_definition_takes_requirements_infrastructure_and_all_they_stand_for_with_it(play):
    async def scenario(s):
        design = await whole(s)
        await design.require()
        await design.bound()
        await s.client.delete(INFRASTRUCTURE_DEFINITION, design.sqls.resource)
        await s.until_gone(INFRASTRUCTURE_DEFINITION, design.sqls.resource)
        for kind in (design.requirements, design.sqls):
            assert await s.client.get(CRD, kind.resource) is None
        await s.until(PUBLICATION, design.sqls.resource, condition("Offered", "False"))
        await s.until_none(design.servers)

    play(scenario)


def test_a_withdrawn_publication_leaves_the_definition_and_its_infrastructure(play):
    async def scenario(s):
        design = await whole(s, reclaimPolicy="Retain")
        await design.require()
        sql = await design.bound()
        await s.client.delete(PUBLICATION, design.sqls.resource)
        await s.until_gone(PUBLICATION, design.sqls.resource)
        assert await s.client.get(CRD, design.requirements.resource) is None
        assert await s.client.get(design.sqls, sql["metadata"]["name"]) is not None
        left = await s.client.get(INFRASTRUCTURE_DEFINITION, design.sqls.resource)
        assert left is not None
        assert left["metadata"]["finalizers"] == ["defined.apiextensions.crossplane.io"]

    play(scenario)


def test_infrastructure_is_composed_of_other_infrastructure_and_passes_on_its_details(play):
    async def scenario(s):
        design = await whole(s)
        stacks = design.sqls._replace(kind="Stack", plural="stacks")
        wanted = {"crdSpecTemplate": design.template(stacks), "connectionDetails": ["endpoint"]}
        await design.apply(INFRASTRUCTURE_DEFINITION, stacks.resource, wanted)
        await s.until(INFRASTRUCTURE_DEFINITION, stacks.resource, established)
        place = {"writeConnectionSecretToRef": {"namespace": s.id, "name": "inner"}}
        base = {"apiVersion": design.sqls.api_version, "kind": "Sql", "spec": {"infrastructure": place}}
        detail = {"fromConnectionSecretKey": "endpoint"}
        await design.compose(stacks, to=[{"base": base, "connectionDetails": [detail]}])
        place = {"writeConnectionSecretToRef": {"namespace": s.id, "name": "outer"}}
        await design.apply(stacks, "mine", {"infrastructure": place})
        stack = await s.until(stacks, "mine", lambda stack: engine(stack).get("composedRefs"))
        [reference] = engine(stack)["composedRefs"]
        sql = await s.until(design.sqls, reference["name"], lambda sql: engine(sql).get("composedRefs"))
        await design.provide(sql)
        await s.until(stacks, "mine", READY)
        secret = await s.until(SECRET, "outer", lambda secret: secret.get("data"))
        assert {key: text(secret, key) for key in secret["data"]} == {"endpoint": "here"}

    play(scenario)


def test_a_field_that_is_added_to_infrastructure_can_be_required(play):
    async def scenario(s):
        design = await whole(s)
        template = design.template(design.sqls, region="string", storageGB="int", tier="string")
        await design.define_sql(crdSpecTemplate=template)
        await s.until(CRD, design.requirements.resource, lambda crd: "tier" in fields_of(crd))
        # A server may go on for a moment with the schema that it had.
        for size in range(100):
            spec = {"tier": "gold", "storageGB": size}
            await design.apply(design.requirements, "mine", spec, s.id)
            sql = await design.bound()
            if "tier" in sql["spec"]:
                break
            await asyncio.sleep(0.1)
        assert sql["spec"]["tier"] == "gold"

    play(scenario)


def fields_of(crd):
    return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


@pytest.mark.embedded_only("kube-controller-manager writes too, and then some of ours are tried twice")
def test_binding_takes_few_writes_and_settled_infrastructure_none(play):
    async def scenario(s):
        design = await whole(s)
        await design.require(writeConnectionSecretToRef={"name": "sql"})
        await design.provide(await design.bound())
        await s.until(design.requirements, "mine", READY)
        await s.until(SECRET, "sql", lambda secret: secret.get("data"))
        # The user's requirement and two writes to each object of the chain, its status apart.
        assert await s.writes() <= 12
        settled = await s.writes()
        # Neither means anything to us: whoever looks, has nothing to write.
        ignored = {"metadata": {"annotations": {"k8s.io/x": "1"}}}
        await s.client.patch_merge(design.requirements, "mine", ignored, s.id)
        await s.client.patch_merge(PUBLICATION, design.sqls.resource, ignored)
        await asyncio.sleep(1)
        assert await s.writes() == settled + 1

    play(scenario)


def test_templates_are_composed_in_either_version_of_a_composition(play):
    async def scenario(s):
        await s.offer()
        template = {
            "name": "settings",
            "base": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": s.id}},
            "patches": [{"fromFieldPath": "spec.size", "toFieldPath": "data.size"}],
            "readinessChecks": [{"type": "None"}],
        }
        spec = {
            "compositeTypeRef": {"apiVersion": s.api_version, "kind": s.xrs.kind},
            "mode": "Resources",
            "resources": [template],
        }
        await FirstDesign(s).apply(MODERN_COMPOSITION, s.id, spec)
        await s.claim("mine", {"size": "3"})
        claim = await s.claim_that_is("mine", READY)
        [reference] = (await s.composite_of(claim))["spec"]["resourceRefs"]
        settings = await s.client.get(CONFIG_MAP, reference["name"], s.id)
        assert settings is not None
        assert settings["data"] == {"size": "3"}

    play(scenario)


@pytest.mark.parametrize(
    ("kind", "spec", "told"),
    [
        (COMPOSITION, {"to": []}, "spec.compositeTypeRef: Required value"),
        (COMPOSITION, {"from": TYPE}, "an array of resources is required in Resources mode"),
        (MODERN_COMPOSITION, {"compositeTypeRef": TYPE}, "an array of pipeline steps is required"),
        (MODERN_COMPOSITION, {"from": TYPE, "mode": "Else"}, "spec.mode: Unsupported value"),
    ],
)
def test_a_composition_that_cannot_compose_is_refused(play, kind, spec, told):
    async def scenario(s):
        with pytest.raises(Invalid, match=re.escape(told)):
            await FirstDesign(s).apply(kind, s.id, spec)

    play(scenario)
