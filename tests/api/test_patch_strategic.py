"""Strategic merge patches of the lists of built-in kinds."""

from __future__ import annotations

import pytest

from tests.support.api.collection import Collection

POD = {
    "containers": [
        {"name": "a", "image": "a:1", "env": [{"name": "X", "value": "1"}]},
        {"name": "b", "image": "b:1"},
    ]
}


@pytest.fixture
def deployments(admin, ns):
    return Collection(admin, "apps/v1", "Deployment", "deployments", ns)


@pytest.fixture
def deployed(deployments):
    labels = {"app": "x"}
    return deployments.create(
        "one",
        spec={"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": POD}},
    )


def containers(obj):
    return obj["spec"]["template"]["spec"]["containers"]


def patched(deployments, pod):
    return containers(deployments.strategic("one", {"spec": {"template": {"spec": pod}}}).ok(200))


def test_a_container_is_matched_by_its_name(deployments, deployed):
    merged = patched(deployments, {"containers": [{"name": "b", "image": "b:2"}]})
    assert [(c["name"], c["image"]) for c in merged] == [("a", "a:1"), ("b", "b:2")]


def test_a_new_container_comes_first(deployments, deployed):
    merged = patched(deployments, {"containers": [{"name": "c", "image": "c:1"}]})
    assert [c["name"] for c in merged] == ["c", "a", "b"]


def test_a_container_is_removed_by_a_directive(deployments, deployed):
    merged = patched(deployments, {"containers": [{"name": "a", "$patch": "delete"}]})
    assert [c["name"] for c in merged] == ["b"]


def test_a_list_is_replaced_by_a_directive(deployments, deployed):
    merged = patched(deployments, {"containers": [{"$patch": "replace"}, {"name": "z", "image": "z:1"}]})
    assert [c["name"] for c in merged] == ["z"]


def test_the_order_of_a_list_can_be_set(deployments, deployed):
    order = {"$setElementOrder/containers": [{"name": "a"}, {"name": "c"}, {"name": "b"}]}
    merged = patched(deployments, {**order, "containers": [{"name": "c", "image": "c:1"}]})
    assert [c["name"] for c in merged] == ["a", "c", "b"]


def test_nested_lists_are_merged_too(deployments, deployed):
    merged = patched(deployments, {"containers": [{"name": "a", "env": [{"name": "Y", "value": "2"}]}]})
    assert {e["name"]: e["value"] for e in merged[0]["env"]} == {"X": "1", "Y": "2"}


def test_an_object_is_replaced_by_a_directive(configmaps):
    configmaps.create("one", data={"a": "1", "b": "2"})
    changed = configmaps.strategic("one", {"data": {"$patch": "replace", "c": "3"}}).ok(200)
    assert changed["data"] == {"c": "3"}


def test_null_removes_a_key(configmaps):
    configmaps.create("one", {"labels": {"a": "1", "b": "2"}}, data={"a": "1"})
    changed = configmaps.strategic("one", {"metadata": {"labels": {"a": None}}}).ok(200)
    assert changed["metadata"]["labels"] == {"b": "2"}


def test_finalizers_are_a_set(configmaps):
    configmaps.create("one", {"finalizers": ["example.org/a"]})
    changed = configmaps.strategic("one", {"metadata": {"finalizers": ["example.org/b"]}}).ok(200)
    assert sorted(changed["metadata"]["finalizers"]) == ["example.org/a", "example.org/b"]
    changed = configmaps.strategic(
        "one", {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.org/a", "example.org/b"]}}
    ).ok(200)
    assert "finalizers" not in changed["metadata"]


def test_owner_references_are_matched_by_uid(configmaps):
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x"}
    configmaps.create("owner")
    owner = configmaps.read("owner")["metadata"]["uid"]
    configmaps.create("one", {"ownerReferences": [{**reference, "name": "owner", "uid": owner}]})
    change = {"metadata": {"ownerReferences": [{"uid": owner, "$patch": "delete"}]}}
    assert "ownerReferences" not in configmaps.strategic("one", change).ok(200)["metadata"]


def test_service_ports_are_matched_by_port(admin, ns):
    services = Collection(admin, "v1", "Service", "services", ns)
    services.create("one", spec={"ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]})
    changed = services.strategic("one", {"spec": {"ports": [{"port": 81, "targetPort": 9000}]}}).ok(200)
    assert {p["port"]: p["targetPort"] for p in changed["spec"]["ports"]} == {80: 80, 81: 9000}


def test_an_unknown_directive_is_refused(configmaps):
    configmaps.create("one", data={"a": "1"})
    answer = configmaps.strategic("one", {"data": {"$patch": "frobnicate"}})
    assert answer.status in (400, 422, 500)
    assert "Unknown patch type: frobnicate" in answer.message or "frobnicate" in answer.message


def test_an_item_without_its_merge_key_is_shown_as_go_prints_it(deployments, deployed):
    pod = {"containers": [{"image": "c:1", "env": [{"name": "X", "value": "1"}], "stdin": True}]}
    deployments.strategic("one", {"spec": {"template": {"spec": pod}}}).refused(
        500,
        "",
        "map: map[env:[map[name:X value:1]] image:c:1 stdin:true] does not contain declared merge key: name",
    )


def test_retained_keys_drop_the_others(deployments, deployed):
    change = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate", "rollingUpdate": None}}}
    changed = deployments.strategic("one", change).ok(200)
    assert changed["spec"]["strategy"] == {"type": "Recreate"}


@pytest.mark.parametrize(
    ("data", "status", "message"),
    [
        pytest.param({"$retainKeys": "a"}, 400, "invalid patch format of retainKeys", id="text"),
        pytest.param({"$retainKeys": 5}, 400, "invalid patch format of retainKeys", id="number"),
        pytest.param(
            {"$retainKeys": ["b"], "a": "2"}, 400, "invalid patch format of retainKeys", id="sets another"
        ),
        pytest.param(
            {"$setElementOrder/a": "b"}, 500, "expected a []interface {}, but received a string", id="order"
        ),
    ],
)
def test_a_directive_of_the_wrong_type_is_refused_with_a_message(configmaps, data, status, message):
    configmaps.create("one", data={"a": "1"})
    answer = configmaps.strategic("one", {"data": data})
    assert answer.status == status
    assert message in answer.message
    assert configmaps.get("one").ok(200)["data"] == {"a": "1"}


def test_values_to_delete_that_are_no_list_delete_nothing(configmaps):
    configmaps.create("one", metadata={"finalizers": ["example.org/a"]})
    try:
        change = {"metadata": {"$deleteFromPrimitiveList/finalizers": 5}}
        changed = configmaps.strategic("one", change).ok(200)
        assert changed["metadata"]["finalizers"] == ["example.org/a"]
    finally:
        configmaps.strategic("one", {"metadata": {"finalizers": None}}).ok(200)
