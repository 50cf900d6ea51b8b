"""Server-side apply: merging, pruning and ownership."""

from __future__ import annotations

import pytest

from crossply.apply import (
    ApplyConflict,
    ApplyError,
    BadApplyRequest,
    NotTyped,
    apply,
    at_address,
    update,
)
from tests.support.apply_widgets import LATER, MAIN, NOW, SCOPES, STATUS, owners, stored, widget


def play(*steps):
    """Apply one configuration after another; a step is (manager, spec) or (manager, spec, "force")."""
    live = None
    for manager, spec, *force in steps:
        live = stored(apply(live, widget(spec), MAIN, manager, NOW, bool(force)).object)
    return live


MERGES = [
    ("a leaf", [("a", {"text": "x"}), ("a", {"text": "y"})], {"text": "y"}),
    ("what others applied stays", [("a", {"text": "x"}), ("b", {"count": 1})], {"text": "x", "count": 1}),
    ("a dropped field goes", [("a", {"text": "x", "count": 1}), ("a", {"text": "x"})], {"text": "x"}),
    (
        "a shared field stays for the other",
        [("a", {"text": "x"}), ("b", {"text": "x"}), ("a", {})],
        {"text": "x"},
    ),
    (
        "the last to drop removes",
        [("a", {"text": "x", "count": 1}), ("b", {"text": "x"}), ("a", {"count": 1}), ("b", {})],
        {"count": 1},
    ),
    (
        "sets join, in the order applied",
        [("a", {"tags": ["c", "a"]}), ("b", {"tags": ["b", "a"]})],
        {"tags": ["c", "b", "a"]},
    ),
    (
        "an item of a set goes with its owner",
        [("a", {"tags": ["a", "b"]}), ("b", {"tags": ["b"]}), ("a", {"tags": []})],
        {"tags": ["b"]},
    ),
    (
        "items merge by key",
        [("a", {"items": [{"name": "x", "value": "1"}]}), ("b", {"items": [{"name": "x", "tags": ["t"]}]})],
        {"items": [{"name": "x", "value": "1", "tags": ["t"]}]},
    ),
    (
        "an item may come between",
        [
            ("a", {"items": [{"name": "x"}, {"name": "z"}]}),
            ("a", {"items": [{"name": "x"}, {"name": "y"}, {"name": "z"}]}),
        ],
        {"items": [{"name": "x"}, {"name": "y"}, {"name": "z"}]},
    ),
    (
        "the order of the last apply wins",
        [("a", {"items": [{"name": "x"}, {"name": "y"}]}), ("a", {"items": [{"name": "y"}, {"name": "x"}]})],
        {"items": [{"name": "y"}, {"name": "x"}]},
    ),
    (
        "a default is part of the key",
        [
            ("a", {"ports": [{"port": 80}]}),
            ("b", {"ports": [{"port": 80, "protocol": "TCP", "name": "web"}]}),
        ],
        {"ports": [{"port": 80, "protocol": "TCP", "name": "web"}]},
    ),
    (
        "another protocol is another port",
        [("a", {"ports": [{"port": 80}]}), ("b", {"ports": [{"port": 80, "protocol": "UDP"}]})],
        {"ports": [{"port": 80}, {"port": 80, "protocol": "UDP"}]},
    ),
    (
        "maps merge by member",
        [("a", {"map": {"x": "1"}}), ("b", {"map": {"y": "2"}})],
        {"map": {"x": "1", "y": "2"}},
    ),
    (
        "an atomic map is taken whole",
        [("a", {"block": {"x": "1"}}), ("b", {"block": {"y": "2"}}, "force")],
        {"block": {"y": "2"}},
    ),
    (
        "a list without type is atomic",
        [("a", {"words": ["x"]}), ("b", {"words": ["y"]}, "force")],
        {"words": ["y"]},
    ),
    (
        "unknown fields merge as maps",
        [("a", {"free": {"x": {"p": 1}}}), ("b", {"free": {"x": {"q": [1]}}})],
        {"free": {"x": {"p": 1, "q": [1]}}},
    ),
    (
        "an embedded object has metadata",
        [
            ("a", {"template": {"metadata": {"labels": {"x": "1"}}}}),
            ("b", {"template": {"metadata": {"labels": {"y": "2"}}}}),
        ],
        {"template": {"metadata": {"labels": {"x": "1", "y": "2"}}}},
    ),
    (
        "a struct that loses its last field is null",
        [("a", {"struct": {"a": "1"}}), ("a", {"struct": {}})],
        {"struct": None},
    ),
]


@pytest.mark.parametrize(("reason", "steps", "spec"), MERGES, ids=[row[0] for row in MERGES])
def test_applies_merge(reason, steps, spec) -> None:
    assert play(*steps)["spec"] == spec, reason


OWNERSHIP = [
    ("leaves are owned", [("a", {"text": "x"})], {"a Apply": {"f:spec": {"f:text": {}}}}),
    ("an empty struct is owned itself", [("a", {"struct": {}})], {"a Apply": {"f:spec": {"f:struct": {}}}}),
    (
        "an item is owned with its fields",
        [("a", {"items": [{"name": "x"}]})],
        {"a Apply": {"f:spec": {"f:items": {'k:{"name":"x"}': {".": {}, "f:name": {}}}}}},
    ),
    (
        "the key holds the default",
        [("a", {"ports": [{"port": 80}]})],
        {"a Apply": {"f:spec": {"f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}}}}}},
    ),
    (
        "items of a set by value",
        [("a", {"tags": ["<x>"]})],
        {"a Apply": {"f:spec": {"f:tags": {'v:"\\u003cx\\u003e"': {}}}}},
    ),
    (
        "a key of a map is owned",
        [("a", {"free": {"x": {"y": 1}}})],
        {"a Apply": {"f:spec": {"f:free": {"f:x": {".": {}, "f:y": {}}}}}},
    ),
    (
        "equal values are shared",
        [("a", {"ratio": 1}), ("b", {"ratio": 1.0})],
        {"a Apply": {"f:spec": {"f:ratio": {}}}, "b Apply": {"f:spec": {"f:ratio": {}}}},
    ),
    (
        "force takes the field, not its neighbours",
        [("a", {"map": {"x": "1", "y": "1"}}), ("b", {"map": {"x": "2"}}, "force")],
        {"a Apply": {"f:spec": {"f:map": {"f:y": {}}}}, "b Apply": {"f:spec": {"f:map": {"f:x": {}}}}},
    ),
    (
        "an owner of nothing is no owner",
        [("a", {"text": "x"}), ("b", {"text": "y"}, "force")],
        {"b Apply": {"f:spec": {"f:text": {}}}},
    ),
]


@pytest.mark.parametrize(("reason", "steps", "expected"), OWNERSHIP, ids=[row[0] for row in OWNERSHIP])
def test_applies_own(reason, steps, expected) -> None:
    assert owners(play(*steps)) == expected, reason


def test_one_conflict_is_a_sentence() -> None:
    live = play(("a", {"text": "x"}))
    with pytest.raises(ApplyConflict) as caught:
        apply(live, widget({"text": "y"}), MAIN, "b", NOW)
    assert str(caught.value) == 'Apply failed with 1 conflict: conflict with "a": .spec.text'
    assert [cause[:2] for cause in caught.value.causes] == [(".spec.text", 'conflict with "a"')]
    assert (caught.value.status, caught.value.reason) == (409, "Conflict")


def test_several_conflicts_are_listed_by_owner() -> None:
    live = play(("a", {"text": "x", "items": [{"name": "i", "value": "1"}]}))
    live = stored(update(live, {**live, "spec": {**live["spec"], "count": 1}}, MAIN, "u", NOW))
    with pytest.raises(ApplyConflict) as caught:
        apply(live, widget({"text": "y", "count": 2, "items": [{"name": "i", "value": "2"}]}), MAIN, "b", NOW)
    assert str(caught.value) == (
        'Apply failed with 3 conflicts: conflicts with "a":\n- .spec.text\n- .spec.items[name="i"].value\n'
        'conflicts with "u" using shop.example.org/v1:\n- .spec.count'
    )


def test_a_conflict_names_the_subresource() -> None:
    live = stored(apply(play(("a", {})), widget(status={"phase": "P"}), STATUS, "s", NOW).object)
    with pytest.raises(ApplyConflict, match=r'conflict with "s" with subresource "status": \.status\.phase'):
        apply(live, widget(status={"phase": "Q"}), STATUS, "t", NOW)


def test_status_is_not_owned_through_the_main_endpoint_nor_spec_through_status() -> None:
    main = apply(None, widget({"text": "x"}, status={"phase": "P"}), MAIN, "a", NOW).object
    assert owners(main) == {"a Apply": {"f:spec": {"f:text": {}}}}
    both = apply(stored(main), widget({"text": "z"}, status={"phase": "P"}), STATUS, "s", NOW, True).object
    assert owners(both)["s Apply status"] == {"f:status": {"f:phase": {}}}
    assert owners(both)["a Apply"] == {"f:spec": {"f:text": {}}}


def test_applying_the_current_state_changes_nothing_and_keeps_the_time() -> None:
    live = play(("a", {"text": "x", "items": [{"name": "i"}]}))
    second = apply(live, widget({"text": "x", "items": [{"name": "i"}]}), MAIN, "a", LATER)
    assert second.object == live
    assert not second.changed


def test_time_moves_with_the_object_and_entries_are_sorted_by_it() -> None:
    live = play(("b", {"text": "x"}))
    live = stored(apply(live, widget({"count": 1}), MAIN, "a", LATER).object)
    entries = live["metadata"]["managedFields"]
    assert [(entry["manager"], entry["time"]) for entry in entries] == [("b", NOW), ("a", LATER)]


def test_fields_from_before_the_first_apply_get_an_owner() -> None:
    live = stored(widget({"text": "x", "count": 1}))
    result = apply(live, widget({"count": 1}), MAIN, "a", NOW).object
    assert owners(result)["before-first-apply Update"] == {"f:spec": {".": {}, "f:text": {}, "f:count": {}}}
    with pytest.raises(ApplyConflict, match='conflict with "before-first-apply" using'):
        apply(live, widget({"text": "y"}), MAIN, "a", NOW)


def test_an_applier_keeps_one_entry_across_versions() -> None:
    live = play(("a", {"text": "x", "count": 1}))
    in_v2 = {**live, "apiVersion": "shop.example.org/v2"}
    patch = {**widget({"text": "x"}), "apiVersion": "shop.example.org/v2"}
    result = apply(in_v2, patch, SCOPES["v2", ""], "a", NOW).object
    assert result["spec"] == {"text": "x"}
    assert [e["apiVersion"] for e in result["metadata"]["managedFields"]] == ["shop.example.org/v2"]


def test_kubectl_takes_over_the_fields_of_its_last_applied_annotation() -> None:
    note = "kubectl.kubernetes.io/last-applied-configuration"
    text = '{"apiVersion":"shop.example.org/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"text":"x"}}'
    obj = widget({"text": "x", "count": 1}, metadata={"name": "w", "annotations": {note: text}})
    live = stored(update(None, obj, MAIN, "kubectl-client-side-apply", NOW))
    result = apply(live, widget({"text": "y"}), MAIN, "kubectl", NOW).object
    assert result["spec"]["text"] == "y"
    assert '"text":"y"' in result["metadata"]["annotations"][note]
    with pytest.raises(ApplyConflict, match=r"1 conflict: .*\.spec\.count"):
        apply(live, widget({"text": "y", "count": 2}), MAIN, "kubectl", NOW)


BAD = [
    ("not in the schema", {"nope": 1}, ".spec.nope: field not declared in schema"),
    (
        "a number for a text",
        {"text": 5},
        ".spec.text: expected string, got &value.valueUnstructured{Value:5}",
    ),
    ("a text for a number", {"count": "5"}, ".spec.count: expected numeric (int or float), got string"),
    ("a number for a boolean", {"flag": 1}, ".spec.flag: expected boolean, got &{1}"),
    ("a boolean is no number", {"count": True}, ".spec.count: expected numeric (int or float), got bool"),
    ("a text for a list", {"words": "x"}, ".spec.words: expected list, got &{x}"),
    ("a list for a map", {"map": ["x"]}, ".spec.map: expected map, got &{[x]}"),
    ("an item twice", {"tags": ["x", "x"]}, '.spec.tags: duplicate entries for key [="x"]'),
    (
        "twice by the default",
        {"ports": [{"port": 80}, {"port": 80, "protocol": "TCP"}]},
        '.spec.ports: duplicate entries for key [port=80,protocol="TCP"]',
    ),
    (
        "an item without key",
        {"items": [{"value": "x"}]},
        ".spec.items: element 0: associative list with keys has an element that omits all key fields"
        ' ["name"] (and doesn\'t have default values for any key fields)',
    ),
    (
        "a null item",
        {"items": [None]},
        ".spec.items: element 0: associative list with keys may not have a null element",
    ),
    (
        "a null in a set",
        {"tags": [None]},
        ".spec.tags: element 0: associative list without keys has an element that's an explicit null",
    ),
    (
        "deep in an item",
        {"items": [{"name": "i", "value": 1}]},
        '.spec.items[name="i"].value: expected string, got &value.valueUnstructured{Value:1}',
    ),
]


@pytest.mark.parametrize(("reason", "spec", "message"), BAD, ids=[row[0] for row in BAD])
def test_a_configuration_that_does_not_fit_is_refused(reason, spec, message) -> None:
    with pytest.raises(NotTyped) as caught:
        apply(None, widget(spec), MAIN, "a", NOW)
    place = "failed to create typed patch object (/w; shop.example.org/v1, Kind=Widget)"
    assert str(caught.value) == f"{place}: {message}", reason


def test_several_misfits_are_listed() -> None:
    with pytest.raises(NotTyped, match=r"errors:\n  \.spec\.count: .*\n  \.spec\.text: "):
        apply(None, widget({"text": 1, "count": "x"}), MAIN, "a", NOW)


REQUESTS = [
    ("another kind", {**widget(), "kind": "Gadget"}, "invalid object type: shop.example.org/v1, Kind=Gadget"),
    ("another version", {**widget(), "apiVersion": "v1"}, "invalid object type: /v1, Kind=Widget"),
    ("managedFields", widget(metadata={"managedFields": []}), "metadata.managedFields must be nil"),
]


@pytest.mark.parametrize(("reason", "patch", "message"), REQUESTS, ids=[row[0] for row in REQUESTS])
def test_wrong_requests_are_refused(reason, patch, message) -> None:
    with pytest.raises(BadApplyRequest) as caught:
        apply(None, patch, MAIN, "a", NOW)
    assert str(caught.value) == message, reason
    assert caught.value.status == 400


def test_an_object_must_be_where_it_was_sent() -> None:
    assert at_address(widget(), "w", "shop")["metadata"] == {"name": "w", "namespace": "shop"}
    with pytest.raises(BadApplyRequest, match=r"object \(w\) does not match the name on the URL \(v\)"):
        at_address(widget(), "v", "shop")
    with pytest.raises(BadApplyRequest, match="undeterminable: name must be provided"):
        at_address({"metadata": {}}, "w", "")
    with pytest.raises(BadApplyRequest, match="does not match the namespace sent on the request"):
        at_address(widget(metadata={"name": "w", "namespace": "other"}), "w", "shop")


def test_records_that_cannot_be_read_end_an_apply() -> None:
    live = stored(widget({}))
    live["metadata"]["managedFields"] = [{"manager": "a", "operation": "Steal"}]
    with pytest.raises(ApplyError, match="failed to decode managed fields: operation must be `Apply` or"):
        apply(live, widget(), MAIN, "a", NOW)


def test_depth_is_bounded() -> None:
    deep: object = "x"
    for _ in range(50_000):
        deep = {"n": deep}
    with pytest.raises(NotTyped, match="nested too deeply"):
        apply(None, widget({"free": deep}), MAIN, "a", NOW)
    assert "managedFields" not in update(None, widget({"free": deep}), MAIN, "a", NOW)["metadata"]
