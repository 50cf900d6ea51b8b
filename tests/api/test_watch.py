"""Watching: every change, in order, from a version on."""
# ruff: noqa: E501 - sentences of the server stay whole, so that they can be searched for

from __future__ import annotations

import time

import pytest

from tests.support.api.client import PARTIAL, TABLE
from tests.support.patience import PATIENCE


def version_of(obj):
    return obj["metadata"]["resourceVersion"]


def test_a_watch_starts_with_the_existing_objects(widgets):
    widgets.create("a")
    widgets.create("b")
    with widgets.watch(timeoutSeconds=5) as watch:
        assert sorted(watch.names(2)) == [("ADDED", "a"), ("ADDED", "b")]


def test_a_watch_sends_every_change_from_a_version_on(widgets):
    widgets.create("before")
    start = widgets.list().json["metadata"]["resourceVersion"]
    with widgets.watch(resourceVersion=start, timeoutSeconds=10) as watch:
        created = widgets.create("one", spec={"size": 1})
        changed = widgets.merge("one", {"spec": {"size": 2}}).ok(200)
        widgets.delete("one").ok(200)
        events = watch.take(3)
    assert [kind for kind, _ in events] == ["ADDED", "MODIFIED", "DELETED"]
    assert events[0][1] == created
    assert events[1][1] == changed
    assert int(version_of(events[2][1])) > int(version_of(changed))
    assert events[2][1]["spec"] == changed["spec"]


def test_a_watch_from_an_older_version_sends_the_missed_events(widgets):
    start = widgets.list().json["metadata"]["resourceVersion"]
    widgets.create("one")
    widgets.merge("one", {"spec": {"size": 2}}).ok(200)
    widgets.delete("one").ok(200)
    with widgets.watch(resourceVersion=start, timeoutSeconds=5) as watch:
        assert watch.names(3) == [("ADDED", "one"), ("MODIFIED", "one"), ("DELETED", "one")]


def test_versions_grow_within_a_watch(configmaps):
    start = configmaps.list().json["metadata"]["resourceVersion"]
    for number in range(10):
        configmaps.create(f"n{number}")
    with configmaps.watch(resourceVersion=start, timeoutSeconds=5) as watch:
        versions = [int(version_of(obj)) for _, obj in watch.take(10)]
    assert versions == sorted(set(versions))


def test_built_in_objects_have_their_kind_in_events(configmaps):
    configmaps.create("one")
    with configmaps.watch(fieldSelector="metadata.name=one", timeoutSeconds=5) as watch:
        _, obj = watch.next()
    assert (obj["kind"], obj["apiVersion"]) == ("ConfigMap", "v1")


def test_a_watch_ends_after_its_timeout(configmaps):
    began = time.monotonic()
    with configmaps.watch(labelSelector="no=such", timeoutSeconds=1) as watch:
        assert list(watch.rest()) == []
    assert 0.5 < time.monotonic() - began < PATIENCE


def test_a_bad_timeout_is_refused(configmaps):
    with configmaps.watch(timeoutSeconds="x") as watch:
        answer = watch.refusal()
    assert (answer.status, answer.message) == (400, 'strconv.ParseInt: parsing "x": invalid syntax')


def test_a_label_that_comes_and_goes_adds_and_deletes(widgets):
    widgets.create("one")
    start = widgets.list().json["metadata"]["resourceVersion"]
    with widgets.watch(resourceVersion=start, labelSelector="a=b", timeoutSeconds=10) as watch:
        widgets.merge("one", {"metadata": {"labels": {"a": "b"}}}).ok(200)
        widgets.merge("one", {"spec": {"size": 1}}).ok(200)
        deleted = widgets.merge("one", {"metadata": {"labels": {"a": None}}}).ok(200)
        events = watch.take(3)
    assert [kind for kind, _ in events] == ["ADDED", "MODIFIED", "DELETED"]
    last = events[2][1]
    assert version_of(last) == version_of(deleted)
    assert last["metadata"]["labels"] == {"a": "b"}  # the last state that was selected


def test_a_selected_field_that_comes_and_goes_adds_and_deletes(widgets):
    widgets.create("one", spec={"colour": "red"})
    start = widgets.list().json["metadata"]["resourceVersion"]
    with widgets.watch(resourceVersion=start, fieldSelector="spec.colour=blue", timeoutSeconds=10) as watch:
        widgets.merge("one", {"spec": {"colour": "blue"}}).ok(200)
        widgets.merge("one", {"spec": {"colour": "red"}}).ok(200)
        assert watch.names(2) == [("ADDED", "one"), ("DELETED", "one")]


def test_deletions_of_unselected_objects_are_not_sent(widgets):
    widgets.create("a")
    widgets.create("b", {"labels": {"x": "y"}})
    start = widgets.list().json["metadata"]["resourceVersion"]
    with widgets.watch(resourceVersion=start, labelSelector="x=y", timeoutSeconds=10) as watch:
        widgets.delete("a").ok(200)
        widgets.delete("b").ok(200)
        assert watch.names(1) == [("DELETED", "b")]


def test_one_object_is_watched_by_its_name(widgets):
    widgets.create("a")
    widgets.create("b")
    with widgets.watch(fieldSelector="metadata.name=b", timeoutSeconds=5) as watch:
        assert watch.names(1) == [("ADDED", "b")]


def test_the_path_of_one_object_is_not_watched_but_read(configmaps):
    created = configmaps.create("a")
    assert configmaps.get("a", watch="true").ok(200) == created


def test_the_deprecated_watch_prefix_is_served(admin, configmaps):
    configmaps.create("a")
    path = configmaps.at("a").replace("/api/v1/", "/api/v1/watch/")
    with admin.watch(path, timeoutSeconds=5) as watch:
        assert watch.names(1) == [("ADDED", "a")]


def test_initial_events_end_with_a_bookmark(widgets):
    widgets.create("a")
    with widgets.watch(
        sendInitialEvents="true",
        resourceVersionMatch="NotOlderThan",
        allowWatchBookmarks="true",
        timeoutSeconds=10,
    ) as watch:
        events = watch.take(2)
        assert [kind for kind, _ in events] == ["ADDED", "BOOKMARK"]
        mark = events[1][1]
        widgets.create("b")
        assert watch.names(1) == [("ADDED", "b")]
    assert mark["kind"] == "Widget"
    assert mark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert int(version_of(mark)) >= int(version_of(events[0][1]))


def test_no_initial_events_are_sent_when_turned_off(widgets):
    widgets.create("a")
    with widgets.watch(
        sendInitialEvents="false",
        resourceVersionMatch="NotOlderThan",
        allowWatchBookmarks="true",
        timeoutSeconds=10,
    ) as watch:
        widgets.create("b")
        kind, obj = watch.next()
    assert (kind, obj["metadata"].get("name")) == ("ADDED", "b")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            {"sendInitialEvents": "true", "allowWatchBookmarks": "true"},
            "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
        (
            {"resourceVersionMatch": "NotOlderThan"},
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
            "provided",
        ),
        (
            {"sendInitialEvents": "true", "resourceVersionMatch": "Exact"},
            "[resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to "
            'NotOlderThan, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]',
        ),
    ],
)
def test_rules_for_initial_events(configmaps, query, message):
    with configmaps.watch(**query) as watch:
        answer = watch.refusal()
    answer.refused(422, "Invalid", f'ListOptions.meta.k8s.io "" is invalid: {message}')


def test_a_version_that_is_no_number_is_refused(configmaps):
    with configmaps.watch(resourceVersion="abc") as watch:
        answer = watch.refusal()
    answer.refused(
        500, "", 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax'
    )


def test_a_version_that_was_compacted_is_gone(configmaps):
    """Version 1 is older than the retained history, or still there on a young server."""
    with configmaps.watch(resourceVersion="1", timeoutSeconds=2) as watch:
        if watch.status == 410:
            answer = watch.refusal()
            assert answer.reason in ("Expired", "Gone")
            return
        first = next(watch.rest(), None)
    if first is not None and first[0] == "ERROR":
        assert first[1]["code"] == 410
        assert first[1]["reason"] == "Expired"
        assert first[1]["message"].startswith("too old resource version: 1 (")


def test_metadata_alone_can_be_watched(widgets):
    widgets.create("one", spec={"size": 1})
    with widgets.watch(accept=PARTIAL, timeoutSeconds=5) as watch:
        kind, obj = watch.next()
    assert kind == "ADDED"
    assert (obj["kind"], obj["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    assert obj["metadata"]["name"] == "one"
    assert "spec" not in obj


def test_tables_can_be_watched(widgets):
    widgets.create("one", spec={"size": 1})
    with widgets.watch(accept=TABLE, timeoutSeconds=5) as watch:
        _, first = watch.next()
        widgets.create("two", spec={"size": 2})
        _, second = watch.next()
    assert [column["name"] for column in first["columnDefinitions"]] == ["Name", "Size", "Colour", "Age"]
    assert first["rows"][0]["cells"][:2] == ["one", 1]
    assert second["columnDefinitions"] is None or second["columnDefinitions"] == []
    assert second["rows"][0]["cells"][:2] == ["two", 2]


def test_a_watch_over_all_namespaces(admin, widgets):
    start = widgets.list().json["metadata"]["resourceVersion"]
    path = f"/apis/{widgets.api_version}/widgets"
    with admin.watch(
        path, resourceVersion=start, timeoutSeconds=10, fieldSelector="metadata.name=everywhere"
    ) as watch:
        widgets.create("everywhere")
        _, obj = watch.next()
    assert obj["metadata"]["namespace"] == widgets.namespace


def test_only_the_namespace_of_the_path_is_watched(admin, widgets, ns):
    other = f"{ns}-b"
    admin.post("/api/v1/namespaces", {"metadata": {"name": other}}).ok(201)
    start = widgets.list().json["metadata"]["resourceVersion"]
    with widgets.watch(resourceVersion=start, timeoutSeconds=10) as watch:
        admin.post(widgets.path.replace(ns, other), widgets.object("there")).ok(201)
        widgets.create("here")
        assert watch.names(1) == [("ADDED", "here")]
    admin.delete(f"/api/v1/namespaces/{other}")


def test_a_deletion_with_finalizers_is_a_change_first(widgets):
    widgets.create("one", {"finalizers": ["example.org/a"]})
    start = widgets.list().json["metadata"]["resourceVersion"]
    with widgets.watch(resourceVersion=start, timeoutSeconds=10) as watch:
        widgets.delete("one").ok()
        widgets.merge("one", {"metadata": {"finalizers": None}}).ok(200)
        events = watch.take(2)
    assert [kind for kind, _ in events] == ["MODIFIED", "DELETED"]
    assert events[0][1]["metadata"]["deletionTimestamp"]


def test_watching_an_unknown_kind_returns_404(admin):
    with admin.watch("/apis/no.such.group/v1/things") as watch:
        assert watch.status == 404
