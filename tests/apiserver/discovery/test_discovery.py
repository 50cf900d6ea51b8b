"""Discovery: groups, versions and resources."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from crossply.apiserver.discovery import (
    Discovery,
    accepted_version,
    aggregated,
    legacy_document,
    resource_item,
    storage_hash,
)
from crossply.apiserver.endpoints.replies import Reply
from crossply.apiserver.endpoints.request_info import parse_request
from crossply.apiserver.endpoints.status_errors import StatusError
from crossply.apiserver.event_loop_offloading import Background
from crossply.apiserver.served_groups import GroupIndex, served_groups, version_rank
from crossply.apiserver.served_resources import Registry
from tests.support.apiserver.gadgets import gadgets, registry

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
OLDER = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
WORLD = SimpleNamespace(background=Background())
"""The part of the server that discovery needs."""


def get(discovery: Discovery, path: str, **headers: str) -> Reply:
    return asyncio.run(discovery.page(WORLD, parse_request("GET", path, {}), headers))


def document(known: Registry, path: str) -> Any:
    return legacy_document(served_groups(known), path, "host:1")


def test_the_core_group_is_its_versions() -> None:
    assert document(registry(), "/api") == {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "host:1"}],
    }


def test_built_in_groups_come_in_their_order_and_then_custom_ones_by_name() -> None:
    known = registry(gadgets(custom_group="zz.org"), gadgets(custom_group="aa.org"))
    names = [group["name"] for group in document(known, "/apis")["groups"]]
    assert names[:2] == ["apiregistration.k8s.io", "apps"]
    assert names[-2:] == ["aa.org", "zz.org"]


def test_versions_come_from_the_most_to_the_least_settled_and_unserved_ones_do_not() -> None:
    group = document(registry(gadgets()), "/apis/example.org")
    assert [item["version"] for item in group["versions"]] == ["v1", "v1beta1"]
    assert group["preferredVersion"]["version"] == "v1"


def test_ranks_of_versions() -> None:
    names = ["v1alpha1", "foo", "v1", "v10", "v2beta1", "v1beta2", "v2", "bar"]
    assert sorted(names, key=version_rank) == [
        "v10",
        "v2",
        "v1",
        "v2beta1",
        "v1beta2",
        "v1alpha1",
        "bar",
        "foo",
    ]


def test_a_custom_resource_is_listed_with_its_subresources() -> None:
    listed = document(registry(gadgets()), "/apis/example.org/v1")["resources"]
    assert [item["name"] for item in listed] == ["gadgets", "gadgets/status", "gadgets/scale"]
    assert listed[0]["shortNames"] == ["gd"]
    assert listed[0]["storageVersionHash"] == storage_hash(gadgets())
    assert listed[2]["group"] == "autoscaling"
    assert listed[2]["singularName"] == ""


def test_the_core_list_has_no_api_version_as_ever() -> None:
    assert list(document(registry(), "/api/v1"))[:2] == ["kind", "groupVersion"]
    assert document(registry(), "/apis/apps/v1")["apiVersion"] == "v1"


def test_storage_hashes_are_those_that_clients_know() -> None:
    hashes = {
        item["name"]: item.get("storageVersionHash") for item in document(registry(), "/api/v1")["resources"]
    }
    assert hashes["configmaps"] == "qFsyl6wFWjQ="
    assert storage_hash(gadgets(custom_group="bk.example.org")) == "W0tOkpJJabI="


def test_an_unknown_group_is_no_page_and_an_unknown_version_no_resource() -> None:
    known = registry()
    assert document(known, "/apis/nope.org") is None
    with pytest.raises(StatusError, match="could not find the requested resource"):
        document(known, "/apis/apps/v9")


def test_everything_at_once() -> None:
    groups = aggregated(served_groups(registry(gadgets())), False, "v2", resource_item)["items"]
    group = next(item for item in groups if item["metadata"]["name"] == "example.org")
    resource = group["versions"][0]["resources"][0]
    assert resource["responseKind"] == {"group": "example.org", "version": "v1", "kind": "Gadget"}
    assert [item["subresource"] for item in resource["subresources"]] == ["status", "scale"]
    core = aggregated(served_groups(registry()), True, "v2", resource_item)["items"]
    assert [item["metadata"] for item in core] == [{}]


ACCEPTS = [
    (AGGREGATED, "v2", "asked for alone"),
    (f"{AGGREGATED},{OLDER},application/json", "v2", "as kubectl asks"),
    (f"{OLDER},application/json", "", "an older form is not served any more"),
    (f"application/json,{AGGREGATED}", "", "plain JSON is preferred"),
    ("application/vnd.kubernetes.protobuf," + AGGREGATED, "v2", "protobuf is passed over"),
    ("", "", "nothing is asked for"),
]


@pytest.mark.parametrize(("accept", "version", "reason"), ACCEPTS)
def test_the_form_is_the_first_that_can_be_had(accept: str, version: str, reason: str) -> None:
    assert accepted_version(accept) == version, reason


def test_a_client_that_knows_the_document_gets_no_other_copy() -> None:
    discovery = Discovery(GroupIndex(registry()))
    first = get(discovery, "/apis", Accept=AGGREGATED)
    second = get(discovery, "/apis", Accept=AGGREGATED, **{"If-None-Match": first.headers["ETag"]})
    assert (first.status, second.status, second.body) == (200, 304, b"")
    assert first.content_type == AGGREGATED


def test_a_new_resource_changes_the_document_and_its_tag() -> None:
    known = registry()
    discovery = Discovery(GroupIndex(known))
    before = get(discovery, "/apis", Accept=AGGREGATED)
    known.put(gadgets())
    after = get(discovery, "/apis", Accept=AGGREGATED)
    assert before.headers["ETag"] != after.headers["ETag"]
    assert b"example.org" in after.body


def test_a_new_resource_is_the_only_one_that_is_encoded() -> None:
    known = registry(gadgets(custom_group="aa.org"))
    discovery = Discovery(GroupIndex(known))
    get(discovery, "/apis", Accept=AGGREGATED)
    before = discovery.rows_encoded
    added = gadgets(custom_group="bb.org")
    known.put(added)
    get(discovery, "/apis", Accept=AGGREGATED)
    served = [version for version in added.versions.values() if version.served]
    assert discovery.rows_encoded - before == len(served)


def test_only_the_roots_have_the_new_form() -> None:
    answer = get(Discovery(GroupIndex(registry())), "/apis/apps/v1", Accept=f"{AGGREGATED},application/json")
    assert orjson.loads(answer.body)["kind"] == "APIResourceList"


def test_a_group_that_is_not_there_is_a_plain_404() -> None:
    answer = get(Discovery(GroupIndex(registry())), "/apis/nope.org/v1")
    assert (answer.status, answer.body) == (404, b"404 page not found\n")
