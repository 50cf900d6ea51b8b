"""The first design (seed 1): what Compositions may compose where, which is used, and what they provide."""

from __future__ import annotations

import re

import pytest

from crossply.kube.failures import Invalid
from tests.support.e2e.first_design import (
    COMPOSITION,
    INFRASTRUCTURE_DEFINITION,
    READY,
    FirstDesign,
    complete_design,
    engine,
    established,
    synced_false,
    text,
)
from tests.support.e2e.pipelines import SIZE, entry, resources
from tests.support.e2e.scenario import COMPOSITION as MODERN_COMPOSITION
from tests.support.e2e.scenario import CONFIG_MAP, SECRET, Scenario

pytestmark = pytest.mark.xdist_group("e2e")

TYPE = {"apiVersion": "example.org/v1", "kind": "Any"}


@pytest.mark.parametrize(
    ("details", "message"),
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
async def test_a_composition_provides_every_connection_detail_exactly_once(s, details, message):
    design = FirstDesign(s)
    await design.serve_servers()
    await design.define_sql()
    base = {"apiVersion": design.servers.api_version, "kind": "Server", "spec": {}}
    await design.compose(design.sqls, to=[{"base": base, "connectionDetails": details}])
    await design.apply(design.sqls, "mine", {"region": "west"})
    await s.until(design.sqls, "mine", synced_false(message, design.sqls.resource))
    assert not (await s.client.list(design.servers)).items


async def test_a_default_composition_is_used_and_a_forced_one_beats_the_choice(s):
    design = FirstDesign(s)
    await design.serve_servers()
    for name in ("cheap", "dear"):
        await design.compose_sql(f"{s.id}-{name}")
    reference = {"apiVersion": COMPOSITION.api_version, "kind": "Composition"}
    await design.define_sql(defaultComposition={**reference, "name": f"{s.id}-cheap"})
    await design.apply(design.sqls, "one", {})
    first_sql = await s.until(design.sqls, "one", lambda sql: engine(sql).get("composedRefs"))
    assert engine(first_sql)["compositionRef"]["name"] == f"{s.id}-cheap"
    await design.define_sql(forceComposition={**reference, "name": f"{s.id}-dear"})
    choice = {"compositionRef": {"name": f"{s.id}-cheap"}}
    await design.apply(design.sqls, "two", {"infrastructure": choice})
    two = await s.until(design.sqls, "two", lambda sql: engine(sql).get("composedRefs"))
    assert engine(two)["compositionRef"]["name"] == f"{s.id}-dear"


def blog_of(base):
    return {
        "base": base,
        "patches": [{"fromFieldPath": "spec.title", "toFieldPath": "data.title"}],
        "readinessChecks": [{"type": "None"}],
    }


async def test_an_application_composes_in_its_namespace(s):
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


@pytest.mark.parametrize("namespace", ["", "default"])
async def test_an_application_may_not_compose_outside_of_namespaces(s, namespace):
    design = FirstDesign(s)
    await design.serve_servers()
    await design.define_blog()
    base = {"apiVersion": design.servers.api_version, "kind": "Server"}
    metadata = {"metadata": {"namespace": namespace}} if namespace else {}
    await design.compose(design.blogs, to=[{"base": {**base, **metadata}}])
    await design.apply(design.blogs, s.id, {"title": "hello"}, "default")
    await Scenario(s.client, "default").until(design.blogs, s.id, synced_false("cluster scoped"))
    assert not (await s.client.list(design.servers)).items


async def test_infrastructure_may_not_compose_in_a_namespace(s):
    design = FirstDesign(s)
    await design.define_sql(connectionDetails=[])
    base = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": s.id}}
    await design.compose(design.sqls, to=[{"base": base}])
    await design.apply(design.sqls, "mine", {})
    await s.until(design.sqls, "mine", synced_false("ConfigMap", "namespace"))


async def test_infrastructure_is_composed_of_other_infrastructure_and_passes_on_its_details(s):
    design = await complete_design(s)
    stacks = design.sqls._replace(kind="Stack", plural="stacks")
    spec = {"crdSpecTemplate": design.template(stacks), "connectionDetails": ["endpoint"]}
    await design.apply(INFRASTRUCTURE_DEFINITION, stacks.resource, spec)
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


@pytest.mark.parametrize("version", ["v1", "v1alpha1", "v2alpha1"])
@pytest.mark.parametrize("mode", [{"mode": "Resources"}, {}], ids=["explicit", "absent"])
async def test_templates_are_composed_in_every_version_of_a_composition(s, mode, version):
    await s.offer()
    template = {
        "name": "settings",
        "base": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": s.id}},
        "patches": [{"fromFieldPath": "spec.size", "toFieldPath": "data.size"}],
        "readinessChecks": [{"type": "None"}],
    }
    spec = {
        "compositeTypeRef": {"apiVersion": s.api_version, "kind": s.xrs.kind},
        "resources": [template],
        **mode,
    }
    await FirstDesign(s).apply(MODERN_COMPOSITION._replace(version=version), s.id, spec)
    await s.claim("mine", {"size": "3"})
    claim = await s.claim_that_is("mine", READY)
    [reference] = (await s.composite_of(claim))["spec"]["resourceRefs"]
    settings = await s.client.get(CONFIG_MAP, reference["name"], s.id)
    assert settings is not None
    assert settings["data"] == {"size": "3"}


async def test_a_pipeline_without_a_mode_is_a_pipeline(s):
    await s.offer()
    type_ = {"apiVersion": s.api_version, "kind": s.xrs.kind}
    base = {"metadata": {"namespace": s.id}, "apiVersion": "v1", "kind": "ConfigMap"}
    step = resources(entry("settings", SIZE, base=base))
    await FirstDesign(s).apply(MODERN_COMPOSITION, s.id, {"compositeTypeRef": type_, "pipeline": [step]})
    await s.claim("mine", {"size": "3"})
    claim = await s.claim_that_is("mine", READY)
    assert len((await s.composite_of(claim))["spec"]["resourceRefs"]) == 1


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        (COMPOSITION, {"to": []}, "spec.compositeTypeRef: Required value"),
        (COMPOSITION, {"from": TYPE}, "an array of resources is required in Resources mode"),
        (MODERN_COMPOSITION, {"compositeTypeRef": TYPE}, "an array of pipeline steps is required"),
        (
            MODERN_COMPOSITION,
            {"compositeTypeRef": TYPE, "mode": "Pipeline", "resources": [{"base": {}}]},
            "an array of pipeline steps is required in Pipeline mode",
        ),
        (MODERN_COMPOSITION, {"from": TYPE, "mode": "Else"}, "spec.mode: Unsupported value"),
    ],
)
async def test_a_composition_that_cannot_compose_is_refused(s, kind, spec, message):
    with pytest.raises(Invalid, match=re.escape(message)):
        await FirstDesign(s).apply(kind, s.id, spec)


CONTAINER = {"image": "example.org/fn:v1"}
FUNCTION = {"name": "a", "type": "Container", "container": CONTAINER}


def with_functions(name, *functions):
    """A Composition of container functions."""
    return {
        "apiVersion": MODERN_COMPOSITION.api_version,
        "kind": MODERN_COMPOSITION.kind,
        "metadata": {"name": name},
        "spec": {"compositeTypeRef": TYPE, "functions": list(functions)},
    }


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ({**FUNCTION, "type": "Webhook"}, "spec.functions[0].type: Unsupported value"),
        ({**FUNCTION, "type": "Chroot"}, "spec.functions[0].type: Unsupported value"),
        ({"name": "a", "type": "Container"}, "spec.functions[0].container: Required value"),
        ({"type": "Container", "container": CONTAINER}, "spec.functions[0].name: Required value"),
        ({**FUNCTION, "container": {}}, "spec.functions[0].container.image: Required value"),
        (
            {**FUNCTION, "container": {**CONTAINER, "timeout": "lots"}},
            "spec.functions[0].container.timeout: Invalid value",
        ),
        (
            {**FUNCTION, "container": {**CONTAINER, "timeout": 30}},
            "spec.functions[0].container.timeout: Invalid value",
        ),
        (
            {**FUNCTION, "container": {**CONTAINER, "network": "Maybe"}},
            "spec.functions[0].container.network: Unsupported value",
        ),
        (
            {**FUNCTION, "container": {**CONTAINER, "network": {"policy": "Maybe"}}},
            "spec.functions[0].container.network: Unsupported value",
        ),
        (
            {**FUNCTION, "container": {**CONTAINER, "imagePullPolicy": "Sometimes"}},
            "spec.functions[0].container.imagePullPolicy: Unsupported value",
        ),
    ],
)
async def test_a_container_function_that_cannot_run_is_refused(s, function, message):
    with pytest.raises(Invalid, match=re.escape(message)):
        await s.client.create(MODERN_COMPOSITION, with_functions(s.id, function), "test")


async def test_container_functions_of_a_composition_have_different_names(s):
    body = with_functions(s.id, FUNCTION, FUNCTION)
    with pytest.raises(Invalid, match=re.escape("spec.functions[1]: Duplicate value")):
        await s.client.create(MODERN_COMPOSITION, body, "test")


@pytest.mark.parametrize(
    "fields",
    [
        {"network": "Accessible"},
        {"network": "Runner"},
        {"network": {"policy": "Isolated"}},
        {"network": {}},
        {"timeout": "1m30s", "imagePullPolicy": "Never"},
        {"timeout": "1.5h", "resources": {"limits": {"cpu": 1, "memory": "64Mi"}}},
        {"imagePullSecrets": [{"name": "a", "namespace": "b"}], "runner": {"endpoint": "unix:///run/fn"}},
    ],
)
async def test_a_container_function_that_can_run_is_accepted(s, fields):
    function = {**FUNCTION, "container": {**CONTAINER, **fields}, "config": {"kind": "Any"}}
    body = with_functions(s.id, function)
    composition = await s.client.create(MODERN_COMPOSITION, body, "test")
    assert composition["spec"]["functions"] == [function]
