"""Replacing objects: optimistic locking, what cannot change, what counts as a change."""
# ruff: noqa: E501 - sentences of the server stay whole, so that they can be searched for

from __future__ import annotations

import copy

MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def test_an_update_replaces_everything(configmaps):
    created = configmaps.create("one", {"labels": {"a": "b"}}, data={"x": "1", "y": "2"})
    created["data"] = {"z": "3"}
    del created["metadata"]["labels"]
    changed = configmaps.put(created).ok(200)
    assert changed["data"] == {"z": "3"}
    assert "labels" not in changed["metadata"]
    assert int(changed["metadata"]["resourceVersion"]) > int(created["metadata"]["resourceVersion"])


def test_identity_survives_an_update_that_leaves_it_out(widgets):
    created = widgets.create("one", spec={"size": 1})
    bare = widgets.object(
        "one", {"resourceVersion": created["metadata"]["resourceVersion"]}, spec={"size": 2}
    )
    changed = widgets.put(bare).ok(200)
    for key in ("uid", "creationTimestamp", "namespace"):
        assert changed["metadata"][key] == created["metadata"][key]


def test_a_stale_version_conflicts(widgets):
    created = widgets.create("one", spec={"size": 1})
    widgets.put({**created, "spec": {"size": 2}}).ok(200)
    group = widgets.api_version.partition("/")[0]
    status = widgets.put({**created, "spec": {"size": 3}}).refused(
        409, "Conflict", f'Operation cannot be fulfilled on widgets.{group} "one": {MODIFIED}'
    )
    assert status["details"] == {"name": "one", "group": group, "kind": "widgets"}


def test_a_stale_built_in_conflicts(configmaps):
    created = configmaps.create("one")
    configmaps.put({**created, "data": {"a": "1"}}).ok(200)
    configmaps.put({**created, "data": {"a": "2"}}).refused(
        409, "Conflict", f'Operation cannot be fulfilled on configmaps "one": {MODIFIED}'
    )


def test_a_config_map_may_be_replaced_without_a_version(configmaps):
    configmaps.create("one")
    assert configmaps.put(configmaps.object("one", data={"a": "1"})).ok(200)["data"] == {"a": "1"}


def test_a_custom_object_needs_a_version_to_be_replaced(widgets):
    widgets.create("one")
    group = widgets.api_version.partition("/")[0]
    widgets.put(widgets.object("one")).refused(
        422,
        "Invalid",
        f'widgets.{group} "one" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an '
        "update",
    )


def test_replacing_a_missing_object_returns_404(configmaps):
    status = configmaps.put(configmaps.object("one")).refused(404, "NotFound", 'configmaps "one" not found')
    assert status["details"] == {"name": "one", "kind": "configmaps"}


def test_the_name_must_be_that_of_the_path(configmaps):
    configmaps.create("one")
    configmaps.client.put(configmaps.at("one"), configmaps.object("two")).refused(
        400, "BadRequest", "the name of the object (two) does not match the name on the URL (one)"
    )


def test_the_name_may_be_left_out_of_the_body(configmaps):
    configmaps.create("one")
    answer = configmaps.client.put(configmaps.at("one"), configmaps.object("", data={"a": "1"}))
    answer.refused(
        400,
        "BadRequest",
        "the name of the object (one based on URL) was undeterminable: name must be provided",
    )


def test_a_wrong_uid_conflicts(configmaps):
    created = configmaps.create("one")
    right = created["metadata"]["uid"]
    created["metadata"]["uid"] = "wrong"
    configmaps.put(created).refused(
        409,
        "Conflict",
        f'Operation cannot be fulfilled on configmaps "one": StorageError: invalid object, Code: 4, Key: '
        f"/registry/configmaps/{configmaps.namespace}/one, ResourceVersion: 0, AdditionalErrorMsg: Precondition "
        f"failed: UID in precondition: wrong, UID in object meta: {right}",
    )


def test_an_update_that_changes_nothing_keeps_the_version(widgets):
    created = widgets.create("one", spec={"size": 1})
    second = widgets.put(created).ok(200)
    assert second == created


def test_a_change_of_the_spec_counts_a_generation(widgets):
    created = widgets.create("one", spec={"size": 1})
    changed = widgets.put({**created, "spec": {"size": 2}}).ok(200)
    assert changed["metadata"]["generation"] == 2


def test_a_change_of_labels_counts_no_generation(widgets):
    created = widgets.create("one", spec={"size": 1})
    created["metadata"]["labels"] = {"a": "b"}
    changed = widgets.put(created).ok(200)
    assert changed["metadata"]["generation"] == 1
    assert changed["metadata"]["labels"] == {"a": "b"}


def test_a_generation_in_the_body_is_ignored(widgets):
    created = widgets.create("one", spec={"size": 1})
    created["metadata"]["generation"] = 99
    assert widgets.put(created).ok(200)["metadata"]["generation"] == 1


def test_server_owned_times_cannot_be_changed(widgets):
    created = widgets.create("one")
    request = copy.deepcopy(created)
    request["metadata"]["creationTimestamp"] = "2001-01-01T00:00:00Z"
    request["metadata"]["labels"] = {"a": "b"}
    assert (
        widgets.put(request).ok(200)["metadata"]["creationTimestamp"]
        == created["metadata"]["creationTimestamp"]
    )


def test_no_finalizer_can_be_added_once_deletion_has_begun(configmaps):
    configmaps.create("one", {"finalizers": ["example.org/a"]})
    configmaps.delete("one").ok()
    answer = configmaps.merge("one", {"metadata": {"finalizers": ["example.org/a", "example.org/b"]}})
    answer.refused(
        422,
        "Invalid",
        'ConfigMap "one" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is '
        'being deleted, found new finalizers []string{"example.org/b"}',
    )
    configmaps.merge("one", {"metadata": {"finalizers": None}}).ok()


def test_the_object_goes_when_its_last_finalizer_does(configmaps):
    configmaps.create("one", {"finalizers": ["example.org/a"]})
    configmaps.delete("one").ok()
    last = configmaps.merge("one", {"metadata": {"finalizers": []}}).ok(200)
    assert last["metadata"]["deletionTimestamp"]
    assert configmaps.get("one").status == 404


def test_an_object_being_deleted_can_still_be_changed(widgets):
    widgets.create("one", {"finalizers": ["example.org/a"]}, spec={"size": 1})
    widgets.delete("one").ok()
    assert widgets.merge("one", {"spec": {"size": 2}}).ok(200)["spec"]["size"] == 2
    widgets.merge("one", {"metadata": {"finalizers": None}}).ok()


def test_the_kind_in_the_body_must_fit(configmaps):
    configmaps.create("one")
    body = {**configmaps.object("one"), "kind": "Secret"}
    configmaps.put(body).refused(
        400,
        "BadRequest",
        'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to '
        "(core.ConfigMap): unknown conversion",
    )


def test_an_immutable_config_map_stays(configmaps):
    configmaps.create("one", data={"a": "1"}, immutable=True)
    configmaps.merge("one", {"data": {"a": "2"}}).refused(
        422,
        "Invalid",
        'ConfigMap "one" is invalid: data: Forbidden: field is immutable when `immutable` is set',
    )
    configmaps.merge("one", {"immutable": False}).refused(
        422,
        "Invalid",
        'ConfigMap "one" is invalid: immutable: Forbidden: field is immutable when `immutable` is set',
    )
