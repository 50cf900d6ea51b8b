"""Objects in the form in which Go writes them back: what is dropped, what is written as zero."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.apiserver import builtin
from tests.support.apiserver.builtin_kinds import (
    by_kind,
    creation_errors,
    deployment,
    new,
    pod_template,
    read,
)


def test_unknown_fields_are_gone() -> None:
    assert "nope" not in read({**new("v1", "ConfigMap"), "nope": 1})


def test_null_and_empty_fields_are_left_out() -> None:
    config = read(new("v1", "ConfigMap", metadata={"labels": {}, "annotations": None}, data=None))
    assert config["metadata"] == {"name": "a"}
    assert "data" not in config


def test_an_empty_value_in_a_map_stays() -> None:
    assert read(new("v1", "ConfigMap", data={"a": ""}))["data"] == {"a": ""}


def test_a_null_in_a_map_of_texts_is_the_empty_text() -> None:
    assert read(new("v1", "ConfigMap", data={"a": None}))["data"] == {"a": ""}


def test_structs_that_are_part_of_a_kind_are_always_written() -> None:
    built = read(deployment())
    assert built["status"] == {}
    assert built["spec"]["template"]["spec"]["containers"][0]["resources"] == {}


def test_a_list_that_must_be_written_is_null_when_empty() -> None:
    assert read(new("rbac.authorization.k8s.io/v1", "ClusterRole", rules=[]))["rules"] is None


def test_a_pointer_keeps_its_zero() -> None:
    assert read(deployment(replicas=0))["spec"]["replicas"] == 0


def test_numbers_that_must_be_written_are_zero() -> None:
    daemon_set = read(new("apps/v1", "DaemonSet", spec={"template": pod_template()}))
    assert daemon_set["status"]["numberReady"] == 0


QUANTITIES = [
    ("1000m", "1", "whole numbers need no suffix"),
    (0.5, "500m", "numbers are taken as texts"),
    (1, "1", "whole numbers too"),
    ("1024Mi", "1Gi", "the largest suffix that fits"),
    ("not one", "not one", "what cannot be read is left to the decoder's check"),
]


@pytest.mark.parametrize(("value", "expected", "reason"), QUANTITIES)
def test_quantities_are_written_in_one_form(value: Any, expected: str, reason: str) -> None:
    quota = read(new("v1", "ResourceQuota", spec={"hard": {"cpu": value}}))
    assert quota["spec"]["hard"]["cpu"] == expected, reason


def test_times_are_written_in_utc_to_the_second() -> None:
    event = read(new("v1", "Event", firstTimestamp="2020-01-01T01:00:00.25+01:00"))
    assert event["firstTimestamp"] == "2020-01-01T00:00:00Z"
    assert event["lastTimestamp"] is None


def test_micro_times_are_written_with_six_digits() -> None:
    lease = read(new("coordination.k8s.io/v1", "Lease", spec={"renewTime": "2020-01-01T01:00:00.25+01:00"}))
    assert lease["spec"]["renewTime"] == "2020-01-01T00:00:00.250000Z"
    early = read(new("coordination.k8s.io/v1", "Lease", spec={"renewTime": "0001-01-01T00:00:02Z"}))
    assert early["spec"]["renewTime"] == "0001-01-01T00:00:02.000000Z"


def test_reading_twice_changes_nothing() -> None:
    once = read(deployment())
    assert read(once) == once


def test_the_argument_is_not_changed() -> None:
    obj = deployment()
    read(obj)
    assert obj == deployment()


WRONG_TYPES = [
    (new("v1", "ConfigMap", data={"a": 1}), "json: cannot unmarshal number into Go struct field ConfigMap"),
    (deployment(replicas="3"), "json: cannot unmarshal string into Go struct field DeploymentSpec"),
    (
        new("apiregistration.k8s.io/v1", "APIService", spec=[]),
        "json: cannot unmarshal array into Go struct field APIService.spec",
    ),
]


@pytest.mark.parametrize(("obj", "message"), WRONG_TYPES)
def test_a_wrong_type_is_reported_in_gos_words(obj: dict[str, Any], message: str) -> None:
    resource = by_kind()[obj["apiVersion"].rpartition("/")[0], obj["kind"]]
    assert (builtin.decode_problem(resource, "v1", obj) or "").startswith(message)


values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "x/y", "A_", "10.0.0.1"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "name"]), inner, max_size=2)
    ),
    max_leaves=6,
)


def _objects_of(schema: dict[str, Any], depth: int) -> st.SearchStrategy[Any]:
    """Mostly well-shaped objects of a schema, with some noise."""
    fields = schema.get("properties")
    if depth == 0 or not fields:
        if schema.get("type") == "array" and depth:
            return st.lists(_objects_of(schema.get("items", {}), depth - 1), max_size=2)
        plain = {
            "string": st.sampled_from(["", "a", "A_"]),
            "integer": st.integers(-2, 3),
            "boolean": st.booleans(),
        }
        return plain.get(schema.get("type", ""), values)
    chosen = st.lists(st.sampled_from(sorted(fields)), max_size=4, unique=True)
    return chosen.flatmap(
        lambda names: st.fixed_dictionaries({key: _objects_of(fields[key], depth - 1) for key in names})
    )


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_whatever_go_can_read_is_read_prepared_and_checked_without_a_crash(data: st.DataObject) -> None:
    resource = data.draw(
        st.sampled_from(sorted(by_kind().values(), key=lambda resource_type: resource_type.key))
    )
    version = resource.versions[resource.storage_version]
    body = data.draw(_objects_of(version.schema or {}, 5))
    if not isinstance(body, dict):
        return
    obj = {
        **body,
        "apiVersion": resource.api_version(version.name),
        "kind": resource.names.kind,
        "metadata": {"name": "a", "uid": "1"},
    }
    if builtin.decode_problem(resource, version.name, obj) is None:
        creation_errors(obj)


def test_a_blank_object_has_the_always_written_fields_and_no_defaults() -> None:
    empty = builtin.blank(by_kind()["apps", "Deployment"], "v1")
    assert empty == {
        "metadata": {},
        "spec": {
            "selector": None,
            "strategy": {},
            "template": {"metadata": {}, "spec": {"containers": None}},
        },
        "status": {},
    }
