"""Listing: order, pages of one snapshot, versions, selectors."""
# ruff: noqa: E501 - sentences of the server stay whole, so that they can be searched for

from __future__ import annotations

import base64
import json

import pytest

from tests.support.api.collection import Collection


def fill(collection, count):
    return [collection.create(f"n{number:02}")["metadata"]["resourceVersion"] for number in range(count)]


def test_a_list_is_sorted_by_name(widgets):
    for name in ("c", "a", "b"):
        widgets.create(name)
    listed = widgets.list().ok(200)
    assert [item["metadata"]["name"] for item in listed["items"]] == ["a", "b", "c"]
    assert (listed["kind"], listed["apiVersion"]) == ("WidgetList", widgets.api_version)


def test_an_empty_list_has_items(widgets):
    listed = widgets.list().ok(200)
    assert listed["items"] == []
    assert int(listed["metadata"]["resourceVersion"]) > 0


def test_items_of_custom_lists_have_their_kinds(widgets):
    widgets.create("one")
    assert widgets.list().json["items"][0]["kind"] == "Widget"


def test_only_custom_lists_have_an_empty_continue_token(widgets, configmaps):
    assert widgets.list().json["metadata"]["continue"] == ""
    assert "continue" not in configmaps.list().json["metadata"]


def test_items_of_built_in_lists_have_no_kinds(configmaps):
    configmaps.create("one")
    assert "kind" not in configmaps.list(fieldSelector="metadata.name=one").json["items"][0]


def test_a_list_over_all_namespaces(admin, widgets):
    widgets.create("one")
    everywhere = Collection(admin, widgets.api_version, "Widget", "widgets")
    assert (widgets.namespace, "one") in [
        (item["metadata"]["namespace"], item["metadata"]["name"]) for item in everywhere.list().json["items"]
    ]


def test_a_list_in_a_namespace_that_is_not_there_is_empty(admin):
    listed = admin.get("/api/v1/namespaces/no-such-place/configmaps").ok(200)
    assert listed["items"] == []


def test_pages_have_the_requested_number_of_items(widgets):
    fill(widgets, 5)
    first = widgets.list(limit=2).ok(200)
    assert [item["metadata"]["name"] for item in first["items"]] == ["n00", "n01"]
    assert first["metadata"]["remainingItemCount"] == 3
    assert first["metadata"]["continue"]


def test_pages_go_on_to_the_end(widgets):
    fill(widgets, 5)
    names, token, versions = [], "", set()
    while True:
        page = widgets.list(limit=2, **({"continue": token} if token else {})).ok(200)
        names += [item["metadata"]["name"] for item in page["items"]]
        versions.add(page["metadata"]["resourceVersion"])
        token = page["metadata"].get("continue", "")
        if not token:
            break
    assert names == ["n00", "n01", "n02", "n03", "n04"]
    assert len(versions) == 1


def test_pages_are_of_one_snapshot(widgets):
    fill(widgets, 4)
    first = widgets.list(limit=2).ok(200)
    widgets.delete("n02").ok(200)
    widgets.create("n021")
    widgets.merge("n03", {"spec": {"note": "later"}}).ok(200)
    rest = widgets.list(limit=10, **{"continue": first["metadata"]["continue"]}).ok(200)
    assert [item["metadata"]["name"] for item in rest["items"]] == ["n02", "n03"]
    assert "note" not in rest["items"][1].get("spec", {})
    assert rest["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


def test_a_continue_token_has_the_version_and_the_start(widgets):
    fill(widgets, 3)
    page = widgets.list(limit=1).ok(200)["metadata"]
    token = page["continue"]
    message = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    assert message["v"] == "meta.k8s.io/v1"
    assert str(message["rv"]) == page["resourceVersion"]
    assert message["start"].rstrip("\0").endswith("n00")


def test_a_page_with_selectors_has_no_remaining_count(widgets):
    for number in range(4):
        widgets.create(f"n{number}", {"labels": {"a": "b"}})
    page = widgets.list(limit=1, labelSelector="a=b").ok(200)["metadata"]
    assert page["continue"]
    assert "remainingItemCount" not in page


def test_a_page_with_selectors_is_full(widgets):
    for number in range(6):
        widgets.create(f"n{number}", {"labels": {"odd": str(number % 2)}})
    page = widgets.list(limit=2, labelSelector="odd=1").ok(200)
    assert [item["metadata"]["name"] for item in page["items"]] == ["n1", "n3"]


def _token(text):
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


@pytest.mark.parametrize(
    ("token", "why"),
    [
        ("garbage", "invalid character '\\u0081' looking for beginning of value"),
        ("e30", "server does not recognize this encoded version "),
        (
            "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ",
            "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
        ),
        ("$", "illegal base64 data at input byte 0"),
        (
            _token('{"v": "meta.k8s.io/v1", "rv": 1e308, "start": "a"}'),
            "json: cannot unmarshal number 1e308 into Go struct field continueToken.rv of type int64",
        ),
        (
            _token('{"v": "meta.k8s.io/v1", "rv": 9223372036854775808, "start": "a"}'),
            "json: cannot unmarshal number 9223372036854775808 into Go struct field continueToken.rv of type "
            "int64",
        ),
    ],
)
def test_a_broken_token_is_refused(widgets, token, why):
    widgets.list(limit=1, **{"continue": token}).refused(
        400, "BadRequest", f"invalid continue token: continue key is not valid: {why}"
    )


def test_a_token_cannot_be_combined_with_a_version(widgets):
    fill(widgets, 2)
    token = widgets.list(limit=1).json["metadata"]["continue"]
    answer = widgets.list(limit=1, resourceVersion="1", **{"continue": token})
    assert (answer.status, answer.reason) == (400, "BadRequest")
    assert answer.message == "specifying resource version is not allowed when using continue"


def test_a_bad_limit_is_refused(widgets):
    answer = widgets.list(limit="x")
    assert answer.status == 400
    assert answer.message == 'strconv.ParseInt: parsing "x": invalid syntax'


def test_an_exact_version_lists_the_past(widgets):
    versions = fill(widgets, 3)
    widgets.delete("n00").ok(200)
    past = widgets.list(resourceVersion=versions[1], resourceVersionMatch="Exact").ok(200)
    assert [item["metadata"]["name"] for item in past["items"]] == ["n00", "n01"]
    assert past["metadata"]["resourceVersion"] == versions[1]


def test_not_older_than_lists_the_present(widgets):
    versions = fill(widgets, 3)
    now = widgets.list(resourceVersion=versions[0], resourceVersionMatch="NotOlderThan").ok(200)
    assert len(now["items"]) == 3
    assert int(now["metadata"]["resourceVersion"]) >= int(versions[2])


def test_version_zero_lists_anything(widgets):
    fill(widgets, 1)
    assert widgets.list(resourceVersion="0").ok(200)["metadata"]["resourceVersion"] != "0"


LIST_OPTIONS = 'ListOptions.meta.k8s.io "" is invalid: '


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            {"resourceVersionMatch": "Exact"},
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            {"resourceVersionMatch": "Exact", "resourceVersion": "0"},
            'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
        (
            {"resourceVersionMatch": "Sometimes", "resourceVersion": "1"},
            'resourceVersionMatch: Unsupported value: "Sometimes": supported values: "Exact", "NotOlderThan", ""',
        ),
        (
            {"sendInitialEvents": "true"},
            "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
        ),
    ],
)
def test_rules_for_matching_versions(configmaps, query, message):
    configmaps.list(**query).refused(422, "Invalid", LIST_OPTIONS + message)


def test_a_version_that_is_no_number_is_refused(configmaps):
    answer = configmaps.list(resourceVersion="abc")
    assert answer.status == 400
    assert 'Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax' in answer.message


def test_a_version_of_the_future_is_waited_for_in_vain(configmaps):
    now = int(configmaps.list().json["metadata"]["resourceVersion"])
    answer = configmaps.list(resourceVersion=now + 100000, resourceVersionMatch="NotOlderThan")
    assert (answer.status, answer.reason) == (504, "Timeout")
    assert answer.message.startswith(f"Timeout: Too large resource version: {now + 100000}, current: ")
    assert answer.causes[0] == {
        "reason": "ResourceVersionTooLarge",
        "message": "Too large resource version",
    }


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("a=1", ["x", "xy"]),
        ("a==1", ["x", "xy"]),
        ("a!=1", ["none", "y"]),
        ("a", ["x", "xy", "y"]),
        ("!a", ["none"]),
        ("a in (1,2)", ["x", "xy", "y"]),
        ("a notin (1)", ["none", "y"]),
        ("a=1,b=1", ["xy"]),
        ("a=1,!b", ["x"]),
        ("n>3", ["y"]),
        ("n<3", ["x"]),
        ("a in ()", []),
        ("", ["none", "x", "xy", "y"]),
    ],
)
def test_label_selectors(widgets, selector, names):
    widgets.create("none")
    widgets.create("x", {"labels": {"a": "1", "n": "2"}})
    widgets.create("xy", {"labels": {"a": "1", "b": "1"}})
    widgets.create("y", {"labels": {"a": "2", "n": "5"}})
    assert widgets.list(labelSelector=selector).names == names


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("a=(", "unable to parse requirement: found '(', expected: identifier"),
        ("a in 1", "unable to parse requirement: found '1' expected: '('"),
        ("=", "found '=', expected: !, identifier, or 'end of string'"),
        ("a>x", None),
        ("a=-x-", None),
    ],
)
def test_bad_label_selectors(configmaps, selector, message):
    answer = configmaps.list(labelSelector=selector)
    assert (answer.status, answer.reason) == (400, "BadRequest")
    if message:
        assert message in answer.message


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("metadata.name=a", ["a"]),
        ("metadata.name==a", ["a"]),
        ("metadata.name!=a", ["b"]),
        ("metadata.name=a,metadata.namespace=NS", ["a"]),
        ("spec.colour=red", ["a"]),
        ("spec.colour!=red", ["b"]),
        ("spec.size=2", ["b"]),
    ],
)
def test_field_selectors_of_custom_objects(widgets, selector, names):
    widgets.create("a", spec={"colour": "red", "size": 1})
    widgets.create("b", spec={"colour": "blue", "size": 2})
    assert widgets.list(fieldSelector=selector.replace("NS", widgets.namespace)).names == names


def test_an_unknown_field_selector_of_a_custom_object(widgets):
    widgets.list(fieldSelector="spec.note=x").refused(
        400, "BadRequest", "field label not supported: spec.note"
    )


def test_an_unknown_field_selector_of_a_built_in(configmaps):
    answer = configmaps.list(fieldSelector="data.x=1")
    assert answer.status == 400
    assert answer.message == (
        '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"'
    )


def test_a_broken_field_selector(configmaps):
    answer = configmaps.list(fieldSelector="metadata.name")
    assert answer.status == 400
    assert "invalid selector: 'metadata.name'; can't understand 'metadata.name'" in answer.message


def test_secrets_are_selected_by_type(admin, ns):
    secrets = Collection(admin, "v1", "Secret", "secrets", ns)
    secrets.create("a", type="example.org/one")
    secrets.create("b", type="example.org/two")
    assert secrets.list(fieldSelector="type=example.org/two").names == ["b"]


def test_namespaces_are_selected_by_phase(admin, ns):
    listed = admin.get("/api/v1/namespaces", fieldSelector=f"status.phase=Active,metadata.name={ns}")
    assert listed.names == [ns]


def test_events_are_selected_by_their_object(admin, ns):
    events = Collection(admin, "v1", "Event", "events", ns)
    for name in "ab":
        events.create(
            name,
            involvedObject={"kind": "ConfigMap", "name": name, "namespace": ns},
            reason="Because",
            type="Normal",
        )
    assert events.list(fieldSelector="involvedObject.name=b,reason=Because,type=Normal").names == ["b"]


def test_getting_at_version_zero(configmaps):
    configmaps.create("one")
    assert configmaps.get("one", resourceVersion="0").status == 200


def test_getting_at_a_bad_version(configmaps):
    configmaps.create("one")
    configmaps.get("one", resourceVersion="x").refused(
        500, "", 'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax'
    )
