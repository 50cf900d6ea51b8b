"""The model of a definition, whichever kind and version it was written in."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.errors import CrossplyError
from crossply.kinds.composition import TypeRef
from crossply.kinds.definition import DefinitionError, parse_definition
from crossply.schema.definition_crds import composite_crd


def xrd(version: str = "v1", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"apiextensions.crossplane.io/{version}",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": "xcaches.acme.test"},
        "spec": {"group": "acme.test", "names": {"kind": "XCache", "plural": "xcaches"}, **spec},
    }


@pytest.mark.parametrize(
    ("obj", "scope", "machinery"),
    [
        (xrd("v1"), "LegacyCluster", ""),
        (xrd("v2"), "Namespaced", "crossplane"),
        (xrd("v2", scope="Cluster"), "Cluster", "crossplane"),
    ],
)
def test_the_version_decides_the_default_scope(obj: dict[str, Any], scope: str, machinery: str) -> None:
    parsed = parse_definition(obj)
    assert (parsed.scope, parsed.machinery) == (scope, machinery)


def test_the_last_referenceable_version_is_the_one_compositions_name() -> None:
    versions = [{"name": f"v{n}", "served": True, "referenceable": n < 3} for n in (1, 2, 3)]
    parsed = parse_definition(xrd(versions=versions, claimNames={"kind": "Cache", "plural": "caches"}))
    assert parsed.composite == TypeRef("acme.test/v2", "XCache")
    assert parsed.claim == TypeRef("acme.test/v2", "Cache")
    assert parse_definition(xrd()).claim is None


def test_choices_of_a_composition_are_read_with_their_defaults() -> None:
    bare = parse_definition(xrd())
    assert (bare.default_composition, bare.enforced_composition) == (None, None)
    assert (bare.default_update_policy, bare.default_delete_policy) == ("Automatic", "Background")
    full = parse_definition(
        xrd(
            defaultCompositionRef={"name": "a"},
            enforcedCompositionRef={"name": "b"},
            defaultCompositionRevisionSelector={"matchLabels": {"c": "d"}},
            connectionSecretKeys=["user"],
        )
    )
    assert (full.default_composition, full.enforced_composition) == ("a", "b")
    assert full.default_revision_selector == {"c": "d"}
    assert full.connection_secret_keys == ("user",)


def test_an_error_names_the_field() -> None:
    with pytest.raises(
        DefinitionError, match=r"^spec\.versions\[0\]\.served: must be true or false, not a string$"
    ):
        parse_definition(xrd(versions=[{"served": "yes"}]))


KINDS = ["CompositeResourceDefinition", "ApplicationDefinition", "InfrastructureDefinition"]
WORDS = [
    "names",
    "kind",
    "plural",
    "validation",
    "openAPIV3Schema",
    "properties",
    "spec",
    "categories",
    "version",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["object", "a"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
)
SPEC = st.fixed_dictionaries(
    {}, optional={"crdSpecTemplate": JSON, "names": JSON, "versions": JSON, "scope": JSON}
)


@given(
    st.fixed_dictionaries(
        {"kind": st.sampled_from(KINDS) | JSON, "spec": SPEC | JSON}, optional={"metadata": JSON}
    )
)
def test_no_json_value_breaks_definitions(obj: Any) -> None:
    with contextlib.suppress(DefinitionError):
        parse_definition(obj)
    with contextlib.suppress(CrossplyError):
        composite_crd(obj)
