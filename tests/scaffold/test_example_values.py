"""Examples of composite resources are what their definitions allow."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crossply.scaffold.example_resource import example_of, value_of
from crossply.schema.validation import validate
from crossply.values import Object

NUMBERS = st.fixed_dictionaries(
    {"type": st.sampled_from(["integer", "number"])},
    optional={
        "minimum": st.integers(-5, 5),
        "maximum": st.integers(6, 90),
        "exclusiveMinimum": st.booleans(),
        "multipleOf": st.integers(1, 3),
    },
).filter(lambda schema: "minimum" in schema or not schema.get("exclusiveMinimum"))
TEXTS = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={"minLength": st.integers(0, 9), "maxLength": st.integers(9, 12)},
    ),
    st.sampled_from(["date", "date-time", "email", "hostname", "ipv4", "ipv6", "cidr", "uri", "uuid"]).map(
        lambda name: {"type": "string", "format": name}
    ),
    st.lists(st.text("ab", min_size=1), min_size=1, unique=True).map(
        lambda values: {"type": "string", "enum": values}
    ),
)
LEAVES = st.one_of(
    NUMBERS,
    TEXTS,
    st.just({"type": "boolean"}),
    st.just({"type": "object"}),
    st.just({"x-kubernetes-int-or-string": True}),
)


def _objects(inner: st.SearchStrategy[Object]) -> st.SearchStrategy[Object]:
    return st.dictionaries(st.sampled_from("abc"), inner, min_size=1).map(
        lambda properties: {"type": "object", "properties": properties, "required": sorted(properties)}
    )


SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        _objects(inner),
        st.builds(
            lambda items, least: {"type": "array", "items": items, "minItems": least},
            inner,
            st.integers(0, 2),
        ),
    ),
    max_leaves=6,
)


@given(SCHEMAS)
def test_a_value_is_valid(schema: Object) -> None:
    assert validate(value_of(schema), schema) == []


def test_an_example_has_the_required_fields_and_every_scalar() -> None:
    schema = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "required": ["deep", "code"],
                "properties": {
                    "size": {"type": "integer", "minimum": 3},
                    "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
                    "optional": {"type": "string", "pattern": "^[A-Z]{3}$"},
                    "list": {"type": "array", "items": {"type": "string"}},
                    "deep": {
                        "type": "object",
                        "required": ["a"],
                        "properties": {"a": {"type": "string", "default": "x"}, "b": {"type": "string"}},
                    },
                },
            }
        },
    }
    version = {"name": "v1", "served": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": "example.org", "names": {"kind": "App"}, "scope": "Namespaced", "versions": [version]}
    assert example_of({"spec": spec}) == {
        "apiVersion": "example.org/v1",
        "kind": "App",
        "metadata": {"name": "example", "namespace": "default"},
        "spec": {"size": 3, "code": "example", "deep": {"a": "x"}},
    }
