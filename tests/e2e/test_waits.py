"""What waits is woken by what it waits for: the controllers here retry a failure only after an hour.

A wait without a watch therefore never ends within the patience of a test.
"""

from __future__ import annotations

import base64

import pytest

from crossply.compose.messages import Requirements, ResourceSelector
from crossply.control.control_plane import LOCAL_WEBHOOKS
from crossply.control.kinds import WATCH_OPERATION
from crossply.control.options import Options
from crossply.kinds.revision import composition_hash, revision_name
from crossply.kube.backoff import RetryPauses
from crossply.kube.core_kinds import SERVICE_ACCOUNT
from tests.support.e2e.advice import follow_advice
from tests.support.e2e.first_design import OFFERED, PUBLICATION, FirstDesign
from tests.support.e2e.in_process import scenario_with
from tests.support.e2e.pipelines import ENVIRONMENT_CONFIGS, builtin, calling, entry, resources, served
from tests.support.e2e.scenario import (
    COMPOSITION,
    CONFIG_MAP,
    CRD,
    DEFINITION,
    NAMESPACE,
    SECRET,
    condition,
)
from tests.support.e2e.things import (
    READY,
    SYNCED,
    Things,
    config_map,
    custom_kind,
    desiring,
    failing,
    message_of,
)
from tests.support.e2e.usages import READY as IN_USE_READY
from tests.support.e2e.usages import USAGE, named

pytestmark = pytest.mark.xdist_group("e2e-waits")

HOUR = 3600.0


OPTIONS = Options(retry=RetryPauses(HOUR, HOUR), operations=True)
"""Controllers that retry nothing while a test lasts."""


@pytest.fixture
async def s(own_server):
    async with scenario_with(own_server, OPTIONS) as scenario:
        yield scenario


def one_config_map(name="one"):
    """A pipeline of one ConfigMap."""
    return resources(entry(name))


# Compositions and their revisions


async def test_a_named_composition_that_appears_is_composed_at_once(s):
    things = await Things.defined(s)
    await things.apply("mine", things.engine_spec(compositionRef={"name": f"{s.id}-a"}))
    await things.until("mine", failing(f'"{s.id}-a" not found'))
    await things.compose(one_config_map(), name=f"{s.id}-a")
    await things.until("mine", READY)


@pytest.mark.parametrize("policy", ["Manual", "Automatic"])
async def test_a_named_composition_that_appears_is_composed_under_either_policy(s, policy):
    things = await Things.defined(s)
    spec = things.engine_spec(compositionRef={"name": f"{s.id}-a"}, compositionUpdatePolicy=policy)
    await things.apply("mine", spec)
    await things.until("mine", failing(f'"{s.id}-a" not found'))
    await things.compose(one_config_map(), name=f"{s.id}-a")
    await things.until("mine", READY)


@pytest.mark.parametrize("field", ["enforcedCompositionRef", "defaultCompositionRef"])
async def test_the_composition_of_a_definition_that_appears_is_composed_at_once(s, field):
    things = await Things.defined(s, **{field: {"name": f"{s.id}-b"}})
    await things.compose(one_config_map(), name=f"{s.id}-a")
    spec = {} if field.startswith("default") else {"compositionRef": {"name": f"{s.id}-a"}}
    await things.apply("mine", things.engine_spec(**spec))
    await things.until("mine", failing(f'"{s.id}-b" not found'))
    await things.compose(one_config_map(), name=f"{s.id}-b")
    await things.until("mine", READY)


async def test_a_composition_that_gains_the_selected_label_is_composed_at_once(s):
    things = await Things.defined(s)
    await things.compose(one_config_map())
    selector = {"matchLabels": {"tier": "gold"}}
    await things.apply("mine", things.engine_spec(compositionSelector=selector))
    await things.until("mine", failing("no compatible Compositions found"))
    await things.compose(one_config_map(), labels={"tier": "gold"})
    await things.until("mine", READY)


async def test_a_deleted_composition_is_noticed_and_its_return_too(s):
    things = await Things.defined(s)
    await things.compose(one_config_map())
    await things.apply("mine")
    await things.until("mine", READY)
    await s.client.delete(COMPOSITION, s.id)
    await things.until("mine", failing(f'Composition.apiextensions.crossplane.io "{s.id}" not found'))
    await things.compose(one_config_map())
    await things.until("mine", READY, SYNCED)


async def test_a_pinned_revision_that_appears_is_composed_at_once(s):
    things = await Things.defined(s)
    first = await things.compose(one_config_map("first"))
    body = {**first, "spec": {**first["spec"], "pipeline": [one_config_map("second")]}}
    pinned = revision_name(s.id, composition_hash(body))
    spec = things.engine_spec(
        compositionRef={"name": s.id},
        compositionUpdatePolicy="Manual",
        compositionRevisionRef={"name": pinned},
    )
    await things.apply("mine", spec)
    await things.until(
        "mine", failing(f'CompositionRevision.apiextensions.crossplane.io "{pinned}" not found')
    )
    await things.compose(one_config_map("second"))
    xr = await things.until("mine", READY)
    assert set(await things.composed(xr)) == {"second"}


async def test_a_selected_revision_that_appears_is_composed_at_once(s):
    things = await Things.defined(s)
    await things.compose(one_config_map("first"))
    spec = things.engine_spec(
        compositionUpdatePolicy="Automatic",
        compositionRevisionSelector={"matchLabels": {"channel": "stable"}},
    )
    await things.apply("mine", spec)
    await things.until("mine", failing("no compatible CompositionRevisions found"))
    await things.compose(one_config_map("second"), labels={"channel": "stable"})
    xr = await things.until("mine", READY)
    assert set(await things.composed(xr)) == {"second"}


# What pipelines read and call


async def test_a_function_that_appears_is_called_at_once(s):
    things = await Things.defined(s)
    step = {"step": "compose", "functionRef": {"name": f"{s.id}-late"}, "input": one_config_map()["input"]}
    await things.compose(step)
    await things.apply("mine")
    await things.until("mine", failing(f"{s.id}-late"))
    await s.function(
        f"{s.id}-late", "xpkg.crossplane.io/crossplane-contrib/function-patch-and-transform:v0.10.0"
    )
    await things.until("mine", READY)


async def test_a_credential_that_appears_is_used_at_once(s):
    things = await Things.defined(s)
    secret = {"namespace": s.id, "name": "login"}
    login = {"name": "login", "source": "Secret", "secretRef": secret}
    await things.compose({**one_config_map(), "credentials": [login]})
    await things.apply("mine")
    await things.until("mine", failing('secrets "login" not found'))
    await s.client.create(SECRET, {"metadata": secret, "data": {"key": "YQ=="}})
    await things.until("mine", READY)


async def test_an_environment_config_that_appears_is_read_at_once(s):
    things = await Things.defined(s)
    environment = await builtin(
        s,
        ENVIRONMENT_CONFIGS,
        input={
            "apiVersion": "environmentconfigs.fn.crossplane.io/v1beta1",
            "kind": "Input",
            "spec": {"environmentConfigs": [{"type": "Reference", "ref": {"name": s.id}}]},
        },
    )
    await things.compose(environment, one_config_map())
    await things.apply("mine")
    await things.until("mine", failing(f'Required environment config "{s.id}" not found'))
    body = {"apiVersion": "apiextensions.crossplane.io/v1beta1", "kind": "EnvironmentConfig"}
    kind = CRD._replace(
        group="apiextensions.crossplane.io",
        version="v1beta1",
        kind="EnvironmentConfig",
        plural="environmentconfigs",
    )
    await s.client.apply(kind, {**body, "metadata": {"name": s.id}, "data": {"a": "b"}}, "test")
    await things.until("mine", READY)


async def test_a_required_kind_that_appears_is_read_at_once(s):
    def needy(request):
        buckets = request.required_resources.get("buckets", ())
        answer = desiring(request, one=config_map(data={"found": str(len(buckets))}))
        selector = ResourceSelector(f"{needy.group}/v1", "Bucket", match_labels={})
        return answer._replace(requirements=Requirements({"buckets": selector}))

    with served(needy) as address:
        needy.group = s.group
        things = await Things.defined(s)
        await things.compose(await calling(s, address))
        await things.apply("mine")
        await things.until("mine", failing('no matches for kind "Bucket"'))
        await custom_kind(s)
        await things.until("mine", READY)


async def test_an_input_that_a_step_refers_to_is_read_when_it_appears(s):
    def function(request):
        return desiring(request, one=config_map(data={"word": request.input["data"]["word"]}))

    with served(function) as address:
        things = await Things.defined(s)
        ref = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": s.id, "name": "input"}
        await things.compose(await calling(s, address, inputRef=ref))
        await things.apply("mine")
        await things.until("mine", failing('"input" not found'))
        body = {"metadata": {"name": "input", "namespace": s.id}, "data": {"word": "hello"}}
        await s.client.create(CONFIG_MAP, body)
        await things.until("mine", READY)


# What composed resources need


async def test_a_composed_kind_that_appears_is_composed_at_once(s):
    things = await Things.defined(s, scope="Cluster")
    bucket = {"apiVersion": s.api_version, "kind": "Bucket", "metadata": {"namespace": s.id}}
    await things.compose(resources(entry("one", base=bucket)))
    await things.apply(s.id)
    await things.until(s.id, failing('no matches for kind "Bucket"'))
    await custom_kind(s)
    await things.until(s.id, READY)


async def test_a_namespace_that_appears_is_composed_into_at_once(s):
    things = await Things.defined(s, scope="Cluster")
    await things.compose(resources(entry("one", base={"metadata": {"namespace": f"{s.id}-late"}})))
    await things.apply(s.id)
    await things.until(s.id, failing(f'namespaces "{s.id}-late" not found'))
    await s.client.create(NAMESPACE, {"metadata": {"name": f"{s.id}-late"}})
    await things.until(s.id, READY)


async def test_a_name_that_somebody_gives_up_is_taken_at_once(s):
    things = await Things.defined(s)
    await things.compose(resources(entry("one", base={"metadata": {"name": "taken"}})))
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u", "controller": True}
    keep = {"ownerReferences": [owner], "finalizers": ["example.org/keep"]}
    await s.client.create(CONFIG_MAP, {"metadata": {"name": "taken", "namespace": s.id, **keep}})
    await things.apply("mine")
    await things.until("mine", failing("Unsynced resources: one"))
    metadata_patch = {"metadata": {"finalizers": None, "ownerReferences": None}}
    await s.client.delete(CONFIG_MAP, "taken", s.id)
    await s.client.patch_merge(CONFIG_MAP, "taken", metadata_patch, s.id)
    await things.until("mine", READY, SYNCED)


async def test_rights_that_somebody_grants_are_used_at_once(s):
    await s.client.create(SERVICE_ACCOUNT, {"metadata": {"name": "composer", "namespace": s.id}})
    things = await Things.defined(s, serviceAccountRef={"namespace": s.id, "name": "composer"})
    await things.compose(one_config_map())
    await things.apply("mine")
    xr = await things.until("mine", failing("to grant it: "))
    await follow_advice(s, message_of(xr))
    await things.until("mine", READY)


async def test_what_a_usage_protected_is_collected_once_it_is_free(own_server):
    async with scenario_with(own_server, OPTIONS, LOCAL_WEBHOOKS) as s:
        things = await Things.defined(s)
        await things.compose(resources(entry("one"), entry("two")))
        await things.apply("mine")
        xr = await things.until("mine", READY)
        second_name = (await things.composed(xr))["two"]["metadata"]["name"]
        spec = {"reason": "test", "of": named(CONFIG_MAP, second_name)}
        usage = {"apiVersion": USAGE.api_version, "kind": USAGE.kind, "spec": spec}
        await s.client.create(USAGE, {**usage, "metadata": {"name": "keep", "namespace": s.id}})
        await s.until(USAGE, "keep", IN_USE_READY)
        await things.compose(one_config_map())
        await things.until("mine", failing("cannot garbage collect composed resources"))
        await s.client.delete(USAGE, "keep", s.id)
        await things.until("mine", SYNCED, READY)
        await s.until_gone(CONFIG_MAP, second_name)


# Connection secrets


def secret_of_somebody(namespace, name):
    """A Secret that is nobody's to write."""
    return {"metadata": {"name": name, "namespace": namespace}, "type": "Opaque"}


async def publishing(s):
    """Claims that publish a connection secret."""
    await s.offer()
    await s.compose(
        s.config_map(connectionDetails=[{"name": "user", "type": "FromValue", "value": "root"}]),
        writeConnectionSecretsToNamespace=s.id,
    )


def has_user(secret):
    return base64.b64decode((secret.get("data") or {}).get("user", "")) == b"root"


async def test_a_secret_that_stands_in_the_way_of_an_xr_is_written_once_it_is_gone(s):
    await publishing(s)
    await s.client.create(SECRET, secret_of_somebody(s.id, "mine"))
    ref = {"name": "mine", "namespace": s.id}
    body = {"apiVersion": s.api_version, "kind": s.xrs.kind, "metadata": {"name": s.id}}
    await s.client.apply(s.xrs, {**body, "spec": {"writeConnectionSecretToRef": ref}}, "test")
    await s.until(s.xrs, s.id, failing("refusing to modify uncontrolled secret"))
    await s.client.delete(SECRET, "mine", s.id)
    await s.until(SECRET, "mine", has_user)


async def test_a_secret_that_stands_in_the_way_of_a_claim_is_written_once_it_is_gone(s):
    await publishing(s)
    await s.client.create(SECRET, secret_of_somebody(s.id, "mine"))
    await s.claim("mine", {"writeConnectionSecretToRef": {"name": "mine"}})
    await s.claim_that_is("mine", failing("refusing to modify uncontrolled secret"))
    await s.client.delete(SECRET, "mine", s.id)
    await s.until(SECRET, "mine", has_user)
    await s.claim_that_is("mine", READY)


# Claims, requirements and what they bind


async def test_a_claim_binds_what_another_claim_lets_go_of(s):
    await s.offer()
    await s.compose(s.config_map())
    await s.claim("first")
    first = await s.claim_that_is("first", READY)
    ref = first["spec"]["resourceRef"]
    await s.claim("second", {"resourceRef": ref, "size": "9"})
    await s.claim_that_is("second", failing("that is not bound to this claim"))
    await s.client.delete(s.claims, "first", s.id)
    await s.claim_that_is("second", READY)
    xr = await s.until(s.xrs, ref["name"], lambda xr: xr["spec"].get("size") == "9")
    assert xr["spec"]["claimRef"]["name"] == "second"


async def test_a_requirement_binds_what_another_one_leaves_behind(s):
    design = FirstDesign(s)
    await design.serve_servers()
    await design.define_sql()
    await design.publish()
    await design.compose_sql(reclaimPolicy="Retain")
    await design.require("first")
    sql = await design.bound("first")
    ref = {"apiVersion": design.sqls.api_version, "kind": "Sql", "name": sql["metadata"]["name"]}
    await design.require("second", resourceRef=ref)
    await s.until(design.requirements, "second", failing("that is not bound to this claim"))
    await s.client.delete(design.requirements, "first", s.id)
    await s.until(design.requirements, "second", SYNCED)
    bound = await s.until(
        design.sqls,
        ref["name"],
        lambda sql: sql["spec"]["infrastructure"].get("requirementRef", {}).get("name") == "second",
    )
    assert bound["metadata"]["uid"] == sql["metadata"]["uid"]


# Definitions


async def test_a_definition_takes_a_name_that_another_crd_gave_up(s):
    things = Things(s)
    foreign = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u", "controller": True}
    await s.client.apply(CRD, foreign_crd(things.kind, foreign), "somebody")
    xrd = await things.define()
    await until_event(s, xrd, "cannot apply rendered composite resource CustomResourceDefinition")
    await s.client.delete(CRD, things.kind.resource)
    await things.established()


async def test_a_definition_offers_a_claim_whose_name_another_crd_gave_up(s):
    foreign = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u", "controller": True}
    await s.client.apply(CRD, foreign_crd(s.claims, foreign), "somebody")
    things = Things(s, scope="LegacyCluster")
    names = {"kind": s.claims.kind, "plural": s.claims.plural}
    xrd = await things.define(claimNames=names)
    await until_event(s, xrd, "cannot apply rendered composite resource claim CustomResourceDefinition")
    await s.client.delete(CRD, s.claims.resource)
    await s.until(DEFINITION, things.kind.resource, condition("Offered", "True"))


async def test_a_publication_that_waits_for_its_definition_is_offered_at_once(s):
    design = FirstDesign(s)
    await design.serve_servers()
    reference = {"infrastructureDefinitionReference": {"name": design.sqls.resource}}
    await design.apply(PUBLICATION, design.sqls.resource, reference)
    await s.until(PUBLICATION, design.sqls.resource, condition("Offered", "False"))
    await design.define_sql()
    await s.until(PUBLICATION, design.sqls.resource, OFFERED)


# Operations


async def test_a_watched_kind_that_appears_is_watched_at_once(s):
    template = {"spec": {"mode": "Pipeline", "pipeline": [one_config_map()]}}
    watch = {"apiVersion": s.api_version, "kind": "Bucket"}
    body = {"apiVersion": WATCH_OPERATION.api_version, "kind": "WatchOperation"}
    spec = {"watch": watch, "operationTemplate": template}
    body = {**body, "metadata": {"name": s.id}, "spec": spec}
    await s.client.apply(WATCH_OPERATION, body, "test")
    await s.until(WATCH_OPERATION, s.id, condition("Watching", "False", "WatchFailed"))
    await custom_kind(s)
    await s.until(WATCH_OPERATION, s.id, condition("Watching", "True", "WatchActive"))
    await s.client.delete(WATCH_OPERATION, s.id)


def foreign_crd(kind, owner):
    """A CRD of a kind that somebody else controls."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}
    return {
        "apiVersion": CRD.api_version,
        "kind": CRD.kind,
        "metadata": {"name": kind.resource, "ownerReferences": [owner]},
        "spec": {
            "group": kind.group,
            "names": {"kind": kind.kind, "plural": kind.plural},
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [version],
        },
    }


async def until_event(s, about, text):
    """Wait until an event about an object says something."""

    async def has_event():
        return any(text in message for _, _, message in await s.events(about))

    await s.eventually(has_event)
