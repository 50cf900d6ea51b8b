"""OpenAPI documents: what clients validate against and explain."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import Any

import orjson
import pytest

from crossply.apiserver.endpoints.replies import Reply
from crossply.apiserver.endpoints.request_info import parse_request
from crossply.apiserver.event_loop_offloading import Background
from crossply.apiserver.openapi.pages import OpenApi
from crossply.apiserver.openapi.swagger_protobuf import encode
from crossply.apiserver.served_groups import GroupIndex
from crossply.apiserver.served_resources import Registry
from tests.support.apiserver.gadgets import gadgets, registry

PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
KIND = {"group": "example.org", "kind": "Gadget", "version": "v1"}


def get(pages: OpenApi, path: str, **headers: str) -> Reply:
    return asyncio.run(pages.page(None, parse_request("GET", path, {}), headers))


def pages_of(known: Registry) -> OpenApi:
    return OpenApi(GroupIndex(known), Background())


def load(path: str) -> Any:
    return orjson.loads(get(pages_of(registry(gadgets())), path).body)


def gadget_schema() -> Any:
    return load("/openapi/v3/apis/example.org/v1")["components"]["schemas"]["org.example.v1.Gadget"]


def test_the_index_lists_every_version_with_a_hash_of_its_document() -> None:
    pages = pages_of(registry(gadgets()))
    paths = orjson.loads(get(pages, "/openapi/v3").body)["paths"]
    assert {"api/v1", "apis/apps/v1", "apis/autoscaling/v2", "apis/example.org/v1"} <= set(paths)
    assert "apis/example.org/v1alpha1" not in paths
    url = paths["api/v1"]["serverRelativeURL"]
    tag = get(pages, "/openapi/v3/api/v1").headers["ETag"].strip('"')
    assert url == f"/openapi/v3/api/v1?hash={tag}"


@pytest.mark.parametrize(
    "place", ["api/v1", "apis/apps/v1", "apis/rbac.authorization.k8s.io/v1", "apis/example.org/v1"]
)
def test_every_reference_in_a_document_is_answered_in_it(place: str) -> None:
    built = load(f"/openapi/v3/{place}")
    text = json.dumps(built)
    targets = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert targets <= set(built["components"]["schemas"])


def test_a_custom_kind_has_the_common_fields_and_its_own_descriptions() -> None:
    schema = gadget_schema()
    assert schema["description"] == "A gadget."
    assert set(schema["properties"]) == {"apiVersion", "kind", "metadata", "spec", "status"}
    assert schema["x-kubernetes-group-version-kind"] == [KIND]
    assert schema["properties"]["spec"]["properties"]["size"]["default"] == "s"


def test_extensions_are_described_in_plain_words_too() -> None:
    spec = gadget_schema()["properties"]["spec"]["properties"]
    assert spec["port"]["anyOf"] == [{"type": "integer"}, {"type": "string"}]
    assert spec["inner"]["required"] == ["kind", "apiVersion"]


def test_the_schema_of_the_resource_is_left_as_it_was() -> None:
    resource = gadgets()
    before = json.dumps(resource.versions["v1"].schema)
    get(pages_of(registry(resource)), "/openapi/v3/apis/example.org/v1")
    assert json.dumps(resource.versions["v1"].schema) == before


def test_clients_learn_that_patches_can_be_validated() -> None:
    path = "/apis/example.org/v1/namespaces/{namespace}/gadgets/{name}"
    patch = load("/openapi/v3/apis/example.org/v1")["paths"][path]["patch"]
    assert patch["x-kubernetes-group-version-kind"] == KIND
    assert "fieldValidation" in [item["name"] for item in patch["parameters"]]
    assert "application/apply-patch+yaml" in patch["requestBody"]["content"]


OPERATIONS = [
    ("api/v1", "/api/v1/namespaces/{name}", "get", "readCoreV1Namespace"),
    ("api/v1", "/api/v1/configmaps", "get", "listCoreV1ConfigMapForAllNamespaces"),
    (
        "apis/apps/v1",
        "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale",
        "put",
        "replaceAppsV1NamespacedDeploymentScale",
    ),
    (
        "apis/rbac.authorization.k8s.io/v1",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
        "delete",
        "deleteRbacAuthorizationV1CollectionClusterRole",
    ),
    (
        "apis/example.org/v1",
        "/apis/example.org/v1/namespaces/{namespace}/gadgets",
        "post",
        "createExampleOrgV1NamespacedGadget",
    ),
]


@pytest.mark.parametrize(("place", "path", "method", "name"), OPERATIONS)
def test_operations_have_the_names_that_generated_clients_know(
    place: str, path: str, method: str, name: str
) -> None:
    assert load(f"/openapi/v3/{place}")["paths"][path][method]["operationId"] == name


def test_a_review_can_only_be_created() -> None:
    paths = load("/openapi/v3/apis/authorization.k8s.io/v1")["paths"]
    assert set(paths["/apis/authorization.k8s.io/v1/subjectaccessreviews"]) == {"post", "parameters"}


def test_version_two_has_less_where_it_lacks_the_terms() -> None:
    definitions = load("/openapi/v2")["definitions"]
    spec = definitions["org.example.v1.Gadget"]["properties"]["spec"]["properties"]
    assert spec["note"] == {}
    assert spec["port"] == {"x-kubernetes-int-or-string": True}
    assert spec["free"] == {"x-kubernetes-preserve-unknown-fields": True}
    assert spec["size"] == {"type": "string", "enum": ["s", "m"]}
    open_kind = definitions["org.example.v1beta1.Gadget"]
    assert set(open_kind) == {"type", "x-kubernetes-group-version-kind"}
    quantity = definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"]
    assert quantity == {"type": "string"}


def test_version_two_refers_to_its_own_definitions_only() -> None:
    built = load("/openapi/v2")
    text = json.dumps(built)
    assert "#/components/" not in text
    assert {part.split('"')[0] for part in text.split("#/definitions/")[1:]} <= set(built["definitions"])


def test_an_unsupported_form_is_not_acceptable() -> None:
    protobuf = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
    assert get(pages_of(registry()), "/openapi/v3/api/v1", Accept=protobuf).status == 406


def test_version_two_is_also_served_in_the_form_that_go_clients_read() -> None:
    answer = get(pages_of(registry(gadgets())), "/openapi/v2", Accept=PROTOBUF)
    assert answer.content_type == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    # field 1 (swagger) and field 2 (info) with their lengths
    assert answer.body.startswith(b"\n\x032.0\x12\x12\n\nKubernetes\x12\x041.36")
    assert b"org.example.v1.Gadget" in answer.body
    assert answer.body.count(b"x-kubernetes-group-version-kind") > 300


SCHEMAS = [
    ({"type": "string"}, b"\xb2\x01\x08\n\x06string", "a type is a message with a list of names"),
    ({"minimum": 1.0}, b"I\x00\x00\x00\x00\x00\x00\xf0?", "a bound is a double"),
    ({"maxItems": 300}, b"p\xac\x02", "a count is a varint"),
    ({"enum": ["s"]}, b'\xa2\x01\x06\x12\x04"s"\n', "any value travels as a text"),
    ({"x-a": True}, b"\xfa\x01\x0e\n\x03x-a\x12\x07\x12\x05true\n", "an extension has a name and a text"),
    ({"properties": {"a": {}}}, b"\xca\x01\x07\n\x05\n\x01a\x12\x00", "properties are named schemas"),
    ({"additionalProperties": {"format": "x"}}, b"\xaa\x01\x05\n\x03\x12\x01x", "others are one schema"),
]


@pytest.mark.parametrize(("schema", "written", "reason"), SCHEMAS)
def test_schemas_in_protobuf(schema: dict[str, Any], written: bytes, reason: str) -> None:
    body = encode({"definitions": {"d": schema}})
    inner = b"\n\x01d\x12" + bytes([len(written)]) + written
    middle = b"\n" + bytes([len(inner)]) + inner
    assert body == b"J" + bytes([len(middle)]) + middle, reason


def test_an_unknown_version_returns_404() -> None:
    assert get(pages_of(registry()), "/openapi/v3/apis/nope.org/v1").status == 404


def test_documents_track_the_registry() -> None:
    known = registry()
    pages = pages_of(known)
    assert get(pages, "/openapi/v3/apis/example.org/v1").status == 404
    known.put(gadgets())
    first = get(pages, "/openapi/v3/apis/example.org/v1")
    assert first.status == 200
    same = get(pages, "/openapi/v3/apis/example.org/v1", **{"If-None-Match": first.headers["ETag"]})
    assert same.status == 304
    known.remove("example.org", "gadgets")
    assert get(pages, "/openapi/v3/apis/example.org/v1").status == 404


def test_a_changed_schema_changes_its_document() -> None:
    known = registry(gadgets())
    pages = pages_of(known)
    first = get(pages, "/openapi/v3/apis/example.org/v1beta1").headers["ETag"]
    changed = gadgets()
    assert changed.versions["v1beta1"].schema is not None
    changed.versions["v1beta1"].schema["description"] = "new"
    known.put(changed)
    assert get(pages, "/openapi/v3/apis/example.org/v1beta1").headers["ETag"] != first


@pytest.mark.parametrize("place", ["api/v1", "apis/apps/v1", "apis/example.org/v1"])
def test_no_document_has_an_empty_list_of_parameters(place: str) -> None:
    """Go clients do not write an empty list back, and then think that the document changed."""
    for path, item in load(f"/openapi/v3/{place}")["paths"].items():
        for verb, operation in item.items():
            message = operation if verb == "parameters" else operation.get("parameters", ["none"])
            assert message, f"{verb} {path}"


def test_the_fields_that_every_object_has_are_explained() -> None:
    fields = gadget_schema()["properties"]
    assert fields["apiVersion"]["description"].startswith("APIVersion defines")
    assert fields["metadata"]["description"].startswith("Standard object's metadata")
    schemas = load("/openapi/v3/apis/example.org/v1")["components"]["schemas"]
    metadata = schemas["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]
    assert all(field.get("description") for field in metadata["properties"].values())


def test_the_index_is_sent_before_any_document_is_built() -> None:
    pages = pages_of(registry(gadgets()))
    get(pages, "/openapi/v3")
    assert pages.documents_built == 0
    get(pages, "/openapi/v3/apis/example.org/v1")
    assert pages.documents_built == 1


def test_a_second_kind_does_not_rebuild_the_documents_of_the_first() -> None:
    known = registry(gadgets(custom_group="aa.org"))
    pages = pages_of(known)
    swagger = pages._swagger["application/json"]
    for path in ("/openapi/v3/apis/aa.org/v1", "/openapi/v2"):
        get(pages, path)
    built, encoded = pages.documents_built, swagger.encodings
    added = gadgets(custom_group="bb.org")
    known.put(added)
    for path in ("/openapi/v3/apis/aa.org/v1", "/openapi/v2"):
        get(pages, path)
    served = [version for version in added.versions.values() if version.served]
    assert pages.documents_built == built
    assert swagger.encodings - encoded == len(served)


@pytest.mark.parametrize("accept", ["application/json", PROTOBUF])
@pytest.mark.parametrize("path", ["/openapi/v2", "/openapi/v3/apis/example.org/v1"])
def test_a_compressed_document_is_the_same(path: str, accept: str) -> None:
    pages = pages_of(registry(gadgets()))
    headers = {"Accept": f"{accept}, */*"}
    plain = get(pages, path, **headers)
    packed = get(pages, path, **headers, **{"Accept-Encoding": "deflate, gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body


def test_the_paths_of_version_two_are_sorted() -> None:
    paths = list(load("/openapi/v2")["paths"])
    assert paths == sorted(paths)
