"""How schemas of built-in kinds become types."""

from __future__ import annotations

import pytest

from crossply.apply import Scope, Version, apply, builtin_type, custom_type
from crossply.apply.schema_types import DEDUCED

DEFINITIONS = {
    "Meta": {"type": "object", "properties": {"name": {"type": "string"}}},
    "Node": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "next": {"$ref": "#/definitions/Node"},
            "list": {
                "type": "array",
                "items": {"$ref": "#/definitions/Node"},
                "x-kubernetes-patch-strategy": "merge",
                "x-kubernetes-patch-merge-key": "name",
            },
            "selector": {"allOf": [{"$ref": "#/definitions/Pair"}], "x-kubernetes-map-type": "atomic"},
            "pair": {"$ref": "#/definitions/Pair"},
            "size": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity"},
            "raw": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.runtime.RawExtension"},
        },
    },
    "Pair": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
}
ROOT = {
    "type": "object",
    "properties": {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"$ref": "#/definitions/Meta"},
        "spec": {"$ref": "#/definitions/Node"},
    },
}
TYPE = builtin_type(ROOT, DEFINITIONS)
SCOPE = Scope("Node", "v1", {"v1": Version("v1", TYPE)})

OWNED = [
    (
        "definitions may be recursive",
        {"next": {"next": {"name": "x"}}},
        {"f:next": {"f:next": {"f:name": {}}}},
    ),
    (
        "the patch strategy makes keys",
        {"list": [{"name": "x"}]},
        {"f:list": {'k:{"name":"x"}': {".": {}, "f:name": {}}}},
    ),
    (
        "a field may make its type atomic",
        {"selector": {"a": "1"}, "pair": {"a": "1"}},
        {"f:selector": {}, "f:pair": {"f:a": {}}},
    ),
    ("a quantity is any scalar", {"size": 1}, {"f:size": {}}),
    ("raw content is one value", {"raw": {"a": {"b": 1}}}, {"f:raw": {}}),
]


@pytest.mark.parametrize(("reason", "spec", "fields"), OWNED, ids=[row[0] for row in OWNED])
def test_built_in_kinds_merge_by_their_definitions(reason, spec, fields) -> None:
    patch = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": spec}
    applied = apply(None, patch, SCOPE, "a", "2024-05-01T10:00:00Z").object
    assert applied["metadata"]["managedFields"][0]["fieldsV1"] == {"f:spec": fields}, reason


def test_a_custom_resource_without_schema_is_deduced() -> None:
    assert custom_type(None) is DEDUCED


def test_metadata_of_an_embedded_resource_keeps_only_known_fields() -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True}
    preserving = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    compiled = custom_type({**preserving, "properties": {"template": embedded}})
    assert compiled.map is not None
    template = compiled.map.fields["template"].map
    assert template is not None
    assert template.element is not None, "what is unknown in the template itself is kept"
    for around in (compiled.map, template):
        metadata = around.fields["metadata"].map
        assert metadata is not None
        assert metadata.element is None
