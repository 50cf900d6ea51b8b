"""Ownership of fields after a create, a replace or a patch."""

from __future__ import annotations

import pytest

from crossply.apply import apply, custom_scopes, parent_entries, scale_entries, update, with_old_times
from tests.support.apply_widgets import FIELDS, LATER, MAIN, NOW, SCOPES, STATUS, crd, owners, stored, widget


def created(spec, manager="c"):
    return stored(update(None, widget(spec), MAIN, manager, NOW))


def changed(live, spec, manager="u", scope=MAIN, now=LATER):
    return stored(update(live, {**live, "spec": spec}, scope, manager, now))


def test_a_create_owns_all_but_server_owned_fields() -> None:
    result = update(None, widget({"text": "x", "struct": {"a": "1"}}), MAIN, "c", NOW)
    fields = {".": {}, "f:text": {}, "f:struct": {".": {}, "f:a": {}}}
    assert result["metadata"]["managedFields"] == [
        {
            "manager": "c",
            "operation": "Update",
            "apiVersion": "shop.example.org/v1",
            "time": NOW,
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": fields},
        }
    ]


def test_a_change_of_a_field_takes_ownership_and_a_removal_releases_it() -> None:
    live = stored(apply(None, widget({"text": "x", "count": 1, "tags": ["a"]}), MAIN, "a", NOW).object)
    live = changed(live, {"text": "y", "tags": ["a", "b"]})
    assert owners(live) == {
        "a Apply": {"f:spec": {"f:tags": {'v:"a"': {}}}},
        "u Update": {"f:spec": {"f:text": {}, "f:tags": {'v:"b"': {}}}},
    }


def test_writing_the_same_value_takes_nothing() -> None:
    live = created({"text": "x"})
    second = update(live, dict(live), MAIN, "u", LATER)
    assert owners(second) == owners(live)
    assert second["metadata"]["managedFields"][0]["time"] == NOW


RESETS = [("an empty entry", [{}]), ("an empty list", [])]


@pytest.mark.parametrize(("reason", "entries"), RESETS, ids=[row[0] for row in RESETS])
def test_records_can_be_reset_and_stay_away_until_the_next_apply(reason, entries) -> None:
    live = created({"text": "x"})
    request = {**live, "metadata": {**live["metadata"], "managedFields": entries}}
    bare = stored(update(live, request, MAIN, "u", LATER))
    assert "managedFields" not in bare["metadata"], reason
    assert "managedFields" not in changed(bare, {"text": "y"})["metadata"]
    assert set(owners(apply(bare, widget({"count": 1}), MAIN, "a", NOW).object)) == {
        "a Apply",
        "before-first-apply Update",
    }


def test_dropping_managedfields_does_not_reset_them() -> None:
    live = created({"text": "x"})
    forgetful = {**widget({"text": "x"}), "metadata": {"name": "w", "uid": "u-1"}}
    assert owners(update(live, forgetful, MAIN, "u", LATER)) == owners(live)


def test_records_may_be_written_but_not_through_a_subresource() -> None:
    live = created({"text": "x"})
    entry = {**live["metadata"]["managedFields"][0], "manager": "renamed"}
    request = {**live, "metadata": {**live["metadata"], "managedFields": [entry]}}
    assert set(owners(update(live, request, MAIN, "u", LATER))) == {"renamed Update"}
    assert set(owners(update(live, request, STATUS, "u", LATER))) == {"c Update"}
    broken = {**live, "metadata": {**live["metadata"], "managedFields": [{"operation": "?"}]}}
    assert set(owners(update(live, broken, MAIN, "u", LATER))) == {"c Update"}


def test_updaters_are_distinguished_by_version_and_subresource() -> None:
    live = created({"count": 1}, "m")
    in_v2 = {**live, "apiVersion": "shop.example.org/v2"}
    live = changed(in_v2, {"count": 2}, "m", SCOPES["v2", ""])
    live = stored(update(live, {**live, "status": {"phase": "P"}}, SCOPES["v2", "status"], "m", LATER))
    owners_now = [(e["apiVersion"][-2:], e.get("subresource")) for e in live["metadata"]["managedFields"]]
    assert owners_now == [("v1", None), ("v2", None), ("v2", "status")]


def test_more_than_ten_updaters_fold_the_oldest_into_one() -> None:
    live = created({"map": {"k0": "x"}}, "m0")
    for n in range(1, 12):
        new = {"map": {**live["spec"]["map"], f"k{n}": "x"}}
        live = changed(live, new, f"m{n:02}", now=f"2024-05-01T12:00:{n:02}Z")
    owners_now = owners(live)
    assert len(owners_now) == 10
    assert owners_now["ancient-changes Update"] == {
        "f:spec": {".": {}, "f:map": {".": {}, "f:k0": {}, "f:k1": {}, "f:k2": {}}}
    }


def test_items_that_are_there_twice_are_owned_whole() -> None:
    live = created({"items": [{"name": "i", "value": "1"}]})
    twice = changed(live, {"items": [{"name": "i", "value": "1"}, {"name": "i", "value": "2"}]})
    assert owners(twice)["u Update"] == {"f:spec": {"f:items": {'k:{"name":"i"}': {}}}}
    once = changed(twice, {"items": [{"name": "i", "value": "2"}]}, "v")
    assert owners(once)["v Update"]["f:spec"]["f:items"]['k:{"name":"i"}'] == {
        ".": {},
        "f:name": {},
        "f:value": {},
    }


def test_a_field_that_became_atomic_is_owned_whole() -> None:
    live = stored(apply(None, widget({"map": {"x": "1"}, "tags": ["a"]}), MAIN, "a", NOW).object)
    atomic = {**FIELDS, "map": FIELDS["block"], "tags": FIELDS["words"]}
    scope = custom_scopes(crd(v1=atomic))["v1", ""]
    assert owners(update(live, dict(live), scope, "u", NOW)) == {
        "a Apply": {"f:spec": {"f:map": {}, "f:tags": {}}}
    }


def test_owners_in_a_version_that_is_gone_are_forgotten() -> None:
    live = created({"text": "x"})
    obsolete = {**live["metadata"]["managedFields"][0], "apiVersion": "shop.example.org/v0", "manager": "old"}
    live["metadata"]["managedFields"].append(obsolete)
    assert set(owners(update(live, dict(live), MAIN, "u", LATER))) == {"c Update"}


def test_a_write_that_does_not_fit_loses_its_records() -> None:
    live = created({"text": "x"})
    assert "managedFields" not in changed(live, {"text": 5})["metadata"]


def test_times_stay_when_nothing_else_changed() -> None:
    live = created({"text": "x"})
    entry = {**live["metadata"]["managedFields"][0], "time": LATER}
    touched = {**live, "metadata": {**live["metadata"], "managedFields": [entry]}}
    assert with_old_times(touched, live) == live
    more = {**touched, "spec": {"text": "y"}}
    assert with_old_times(more, live) == more


def test_owners_of_replicas_pass_through_the_scale() -> None:
    path, version = ("f:spec", "f:count"), "shop.example.org/v1"
    live = stored(apply(None, widget({"count": 1, "text": "x"}), MAIN, "a", NOW).object)
    entries = live["metadata"]["managedFields"]
    scale = scale_entries(entries, {version: path})
    assert [(e["apiVersion"], e["fieldsV1"]) for e in scale] == [
        ("autoscaling/v1", {"f:spec": {"f:replicas": {}}})
    ]
    updated = [{**scale[0], "manager": "hpa", "operation": "Update", "subresource": "scale"}]
    assert owners(
        {"metadata": {"managedFields": parent_entries(entries, updated, {version: path}, version)}}
    ) == {
        "a Apply": {"f:spec": {"f:text": {}}},
        "hpa Update scale": {"f:spec": {"f:count": {}}},
    }
    assert parent_entries(entries, scale, {version: path}, version) == entries
