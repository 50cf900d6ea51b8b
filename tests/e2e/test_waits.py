"""A waiting object is enqueued by a watch: the controllers here retry a failure only after an hour.

A wait without a watch therefore never ends within the timeout of a test.
"""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import Requirements, ResourceSelector
from crossply.control.control_plane import LOCAL_WEBHOOKS
from crossply.kinds.composition_revision import composition_hash, revision_name
from crossply.kube.core_kinds import SERVICE_ACCOUNT
from tests.support.e2e.advice import run_advised_commands
from tests.support.e2e.in_process import scenario_with
from tests.support.e2e.pipelines import ENVIRONMENT_CONFIGS, builtin, calling, entry, resources, served
from tests.support.e2e.scenario import (
    COMPOSITION,
    CONFIG_MAP,
    CRD,
    NAMESPACE,
    SECRET,
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
from tests.support.e2e.waits import OPTIONS, one_config_map

pytestmark = pytest.mark.xdist_group("e2e-waits")


@pytest.fixture
async def s(own_server):
    async with scenario_with(own_server, OPTIONS) as scenario:
        yield scenario


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


async def test_a_released_name_is_used_at_once(s):
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


async def test_granted_rights_are_used_at_once(s):
    await s.client.create(SERVICE_ACCOUNT, {"metadata": {"name": "composer", "namespace": s.id}})
    things = await Things.defined(s, serviceAccountRef={"namespace": s.id, "name": "composer"})
    await things.compose(one_config_map())
    await things.apply("mine")
    xr = await things.until("mine", failing("to grant it: "))
    await run_advised_commands(s, message_of(xr))
    await things.until("mine", READY)


async def test_a_resource_that_a_usage_protected_is_collected_once_it_is_free(own_server):
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
