"""Names are deterministic for the same parent and child, and always valid."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.compose.resource_names import child_name, composed_manager, is_subdomain, is_valid_name

LONG = "a" * 50


@pytest.mark.parametrize(
    ("prefix", "name", "reason"),
    [
        ("my-xr-", "my-xr-5d281fc32eca", "a prefix that ends in a dash is used as it is"),
        ("my-xr", "my-xr-5d281fc32eca", "a dash is added where it is missing"),
        ("", "5d281fc32eca", "without a prefix the suffix is the name"),
        (LONG + "ffffffffffgggg-", LONG + "-5d281fc32eca", "a long prefix is cut to make room"),
        ("b" * 49 + "-cccccccccccccc-", "b" * 49 + "--5d281fc32eca", "a dash at the cut is kept twice"),
    ],
)
def test_a_child_name_is_the_prefix_and_a_digest(prefix: str, name: str, reason: str) -> None:
    assert child_name(prefix, "uid-1", "bucket") == name, reason


@given(st.text("abc-", max_size=80), st.text(), st.text())
def test_a_child_name_never_exceeds_63_characters(prefix: str, uid: str, child: str) -> None:
    assert len(child_name(prefix, uid, child)) <= 63


@pytest.mark.parametrize(
    ("name", "valid"),
    [("a", True), ("a.b-c", True), ("", False), ("A", False), ("-a", False), ("a-", False), ("a..b", False)],
)
def test_a_subdomain_consists_of_lower_case_labels(name: str, valid: bool) -> None:
    assert is_subdomain(name) is valid


def test_names_of_rbac_kinds_may_hold_colons() -> None:
    assert is_valid_name("system:node", "rbac.authorization.k8s.io/v1", "ClusterRole")
    assert not is_valid_name("system:node", "v1", "ConfigMap")


def test_the_manager_of_composed_resources_depends_on_the_name_and_the_kind_of_the_xr() -> None:
    digest = "933ca6d6ce34246e8bf5cfc759f1f129a5c555cd9fcadef85c0e99e38e6538ef"
    xr = {"apiVersion": "example.org/v1", "kind": "XBucket"}
    assert composed_manager("my-xr", xr) == f"apiextensions.crossplane.io/composed/{digest}"
