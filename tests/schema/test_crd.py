"""A definition becomes the CRDs that Crossplane would make of it."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.errors import CrossplyError
from crossply.kinds.definition_go_types import DefinitionDecodeError
from crossply.schema.definition_crds import ClaimNamesError, CrdError, claim_crd, composite_crd, crds_of

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"spec": {"properties": {"size": {"type": "integer"}}}},
}


def xrd(version: str = "v1", *, schema: Any = SCHEMA, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"apiextensions.crossplane.io/{version}",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": "xcaches.acme.test", "uid": "u"},
        "spec": {
            "group": "acme.test",
            "names": {"kind": "XCache", "plural": "xcaches"},
            "versions": [
                {"name": "v1", "served": True, "referenceable": True, "schema": {"openAPIV3Schema": schema}}
            ],
            **spec,
        },
    }


def schema_of(crd: dict[str, Any]) -> Any:
    return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


def spec_fields(crd: dict[str, Any]) -> Any:
    return schema_of(crd)["properties"]["spec"]["properties"]


@pytest.mark.parametrize(
    ("version", "scope", "crd_scope", "fields"),
    [
        ("v1", None, "Cluster", {"claimRef", "compositionRef", "resourceRefs", "writeConnectionSecretToRef"}),
        ("v2", None, "Namespaced", {"crossplane"}),
        ("v2", "Cluster", "Cluster", {"crossplane"}),
        ("v1", "Namespaced", "Namespaced", {"crossplane"}),
    ],
)
def test_the_scope_decides_where_the_machinery_is(
    version: str, scope: str | None, crd_scope: str, fields: set[str]
) -> None:
    crd = composite_crd(xrd(version, scope=scope))
    assert crd["spec"]["scope"] == crd_scope
    assert fields <= spec_fields(crd).keys()
    assert "size" in spec_fields(crd)


def test_only_namespaced_composites_refer_to_resources_without_a_namespace() -> None:
    def ref_fields(crd: dict[str, Any]) -> set[str]:
        refs = spec_fields(crd)["crossplane"]["properties"]["resourceRefs"]
        return set(refs["items"]["properties"])

    assert ref_fields(composite_crd(xrd("v2"))) == {"apiVersion", "kind", "name"}
    assert ref_fields(composite_crd(xrd("v2", scope="Cluster"))) == {
        "apiVersion",
        "kind",
        "name",
        "namespace",
    }


def test_the_machinery_wins_over_a_users_field_of_the_same_name() -> None:
    own_schema = {"properties": {"spec": {"properties": {"compositionRef": {"type": "boolean"}}}}}
    assert spec_fields(composite_crd(xrd(schema=own_schema)))["compositionRef"]["type"] == "object"


def test_only_some_parts_of_the_users_schema_are_used() -> None:
    schema = schema_of(
        composite_crd(
            xrd(
                schema={
                    "description": "root",
                    "required": ["status"],
                    "anyOf": [{}],
                    "properties": {
                        "other": {"type": "string"},
                        "metadata": {"properties": {"name": {"maxLength": 20, "pattern": "a"}}},
                        "spec": {
                            "required": ["size"],
                            "additionalProperties": True,
                            "nullable": True,
                            "x-kubernetes-preserve-unknown-fields": True,
                            "oneOf": [{"required": ["size"]}],
                        },
                        "status": {"description": "s", "x-kubernetes-preserve-unknown-fields": True},
                    },
                }
            )
        )
    )
    properties = schema.pop("properties")
    assert schema == {"type": "object", "required": ["spec"], "description": "root"}
    assert properties["metadata"]["properties"] == {"name": {"type": "string", "maxLength": 20}}
    assert "other" not in properties
    for name in ("spec", "status"):
        properties[name].pop("properties")
    assert properties["spec"] == {
        "type": "object",
        "required": ["size"],
        "x-kubernetes-preserve-unknown-fields": True,
        "oneOf": [{"required": ["size"]}],
    }
    assert properties["status"] == {"type": "object", "description": "s"}


@pytest.mark.parametrize(("longest", "length"), [(None, 63), (20, 20), (90, 63)])
def test_a_name_fits_into_a_label(longest: int | None, length: int) -> None:
    schema = {"properties": {"metadata": {"properties": {"name": {"maxLength": longest}}}}}
    name = schema_of(composite_crd(xrd(schema=schema)))["properties"]["metadata"]["properties"]["name"]
    assert name == {"type": "string", "maxLength": length}


def test_policies_become_defaults_only_when_they_are_set() -> None:
    names = {"kind": "Cache", "plural": "caches"}
    bare = xrd(claimNames=names)
    full = xrd(
        claimNames=names, defaultCompositionUpdatePolicy="Manual", defaultCompositeDeletePolicy="Foreground"
    )
    assert "default" not in spec_fields(composite_crd(bare))["compositionUpdatePolicy"]
    assert spec_fields(composite_crd(full))["compositionUpdatePolicy"]["default"] == "Manual"
    assert "default" not in spec_fields(claim_crd(full))["compositionUpdatePolicy"]
    assert spec_fields(claim_crd(full))["compositeDeletePolicy"]["default"] == "Foreground"
    assert "default" not in spec_fields(claim_crd(bare))["compositeDeletePolicy"]


def test_metadata_and_names_are_passed_on() -> None:
    definition = xrd(
        metadata={"labels": {"a": "new", "c": "3"}, "annotations": {"note": "kept"}},
        names={"kind": "XCache", "plural": "xcaches", "categories": ["crossplane"]},
        conversion={"strategy": "None"},
    )
    definition["metadata"].update(labels={"a": "old", "b": "2"}, annotations={"note": "not copied"})
    crd = composite_crd(definition)
    assert crd["metadata"]["labels"] == {"a": "new", "b": "2", "c": "3"}
    assert crd["metadata"]["annotations"] == {"note": "kept"}
    assert crd["metadata"]["ownerReferences"][0]["uid"] == "u"
    assert crd["spec"]["names"]["categories"] == ["crossplane", "composite"]
    assert crd["spec"]["conversion"] == {"strategy": "None"}


def test_a_version_keeps_its_deprecation_columns_and_scale() -> None:
    definition = xrd()
    scale = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
    definition["spec"]["versions"][0].update(
        deprecated=True,
        deprecationWarning="old",
        subresources={"scale": scale},
        additionalPrinterColumns=[{"name": "SIZE", "type": "integer", "jsonPath": ".spec.size"}],
    )
    version = composite_crd(definition)["spec"]["versions"][0]
    assert (version["deprecated"], version["deprecationWarning"]) == (True, "old")
    assert version["subresources"] == {"status": {}, "scale": scale}
    columns = [column["name"] for column in version["additionalPrinterColumns"]]
    assert columns == ["SIZE", "SYNCED", "READY", "COMPOSITION", "COMPOSITIONREVISION", "AGE"]


def test_a_claim_has_a_crd_of_its_own() -> None:
    composite, claim = crds_of(xrd(claimNames={"kind": "Cache", "plural": "caches"}))
    assert composite["metadata"]["name"] == "xcaches.acme.test"
    assert claim["metadata"]["name"] == "caches.acme.test"
    assert (claim["spec"]["scope"], claim["spec"]["names"]["categories"]) == ("Namespaced", ["claim"])
    assert len(crds_of(xrd())) == 1


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (None, "missing names"),
        ({"kind": "XCache", "plural": "caches"}, '"XCache" conflicts with composite resource name'),
        ({"kind": "Cache", "plural": "xcaches"}, '"xcaches" conflicts with composite resource name'),
    ],
)
def test_the_names_of_a_claim_must_be_its_own(names: Any, problem: str) -> None:
    with pytest.raises(ClaimNamesError) as caught:
        claim_crd(xrd(claimNames=names))
    assert str(caught.value) == f"invalid resource claim names: {problem}"


PARSE = "cannot parse validation schema: cannot parse validation schema"


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (None, f"{PARSE}: unexpected end of JSON input"),
        ("x", f"{PARSE}: json: cannot unmarshal string into Go value of type v1.JSONSchemaProps"),
        (
            {"properties": {"spec": {"properties": {"a": {"type": 5}}}}},
            f"{PARSE}: json: cannot unmarshal number into Go struct field "
            "JSONSchemaProps.properties.properties.type of type string",
        ),
        ({"additionalProperties": 5}, f"{PARSE}: boolean or JSON schema expected"),
    ],
)
def test_a_malformed_schema_is_refused(schema: Any, problem: str) -> None:
    with pytest.raises(CrdError) as caught:
        composite_crd(xrd(schema=schema))
    assert str(caught.value) == f'cannot generate CRD for "Composite Resource" "xcaches.acme.test": {problem}'


def test_a_version_without_a_schema_is_refused() -> None:
    definition = xrd()
    del definition["spec"]["versions"][0]["schema"]
    with pytest.raises(CrdError, match="custom resource validation cannot be nil"):
        composite_crd(definition)


@pytest.mark.parametrize(
    ("definition", "problem"),
    [
        ([], "array into Go value of type v1.CompositeResourceDefinition"),
        (
            {"spec": {"names": "x"}},
            "string into Go struct field CompositeResourceDefinitionSpec.spec.names "
            "of type v1.CustomResourceDefinitionNames",
        ),
        (
            {"spec": {"versions": [{"served": "yes"}]}},
            "string into Go struct field CompositeResourceDefinitionVersion.spec.versions.served "
            "of type bool",
        ),
    ],
)
def test_a_field_of_the_wrong_type_is_reported_in_gos_words(definition: Any, problem: str) -> None:
    with pytest.raises(DefinitionDecodeError) as caught:
        composite_crd(definition)
    assert str(caught.value) == f"json: cannot unmarshal {problem}"


def test_a_bottomless_schema_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(50_000):
        schema = {"items": schema}
    with pytest.raises(CrdError, match="exceeded max depth"):
        composite_crd(xrd(schema=schema))


def test_the_definition_is_left_as_it_was() -> None:
    definition = xrd(claimNames={"kind": "Cache", "plural": "caches"})
    before = copy.deepcopy(definition)
    crds_of(definition)
    assert definition == before


WORDS = ["type", "properties", "items", "enum", "spec", "status", "metadata", "required", "maxLength"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(["object", "a"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS), inner, min_size=1, max_size=3)
    ),
)


@given(JSON, JSON)
def test_no_json_value_breaks_the_derivation(schema: Any, names: Any) -> None:
    with contextlib.suppress(CrossplyError):
        composite_crd(xrd(schema=schema))
    with contextlib.suppress(CrossplyError):
        claim_crd(xrd(claimNames=names))
    with contextlib.suppress(CrossplyError):
        composite_crd(xrd(names=names, versions=[schema]))
