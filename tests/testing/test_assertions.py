"""What published tests assert of resources means what it means to `up test`.

The verdicts were recorded from the program that it compares with: kyverno-json at
v0.0.4-0.20241008103124-b294ee72a2bf.
"""

from __future__ import annotations

from typing import Any

import pytest

from crossply.testing.assertion_match import candidates, unequal_fields
from crossply.testing.suite_field_reader import SuiteError


@pytest.mark.parametrize(
    ("expected", "actual", "is_equal"),
    [
        pytest.param({"a": 1}, {"a": 1, "b": 2}, True, id="a map may have other fields"),
        pytest.param({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, True, id="at every depth"),
        pytest.param({"a": {"b": 1}}, {"a": {"b": 2}}, False, id="another value"),
        pytest.param({"a": 1}, {"b": 1}, False, id="a field that is not there"),
        pytest.param({"a": None}, {}, False, id="null does not mean that a field is absent"),
        pytest.param({"a": None}, {"a": None}, True, id="null is null"),
        pytest.param({"a": None}, {"a": 1}, False, id="null is no value"),
        pytest.param({"a": [1, 2]}, {"a": [1, 2]}, True, id="the same list"),
        pytest.param({"a": [1]}, {"a": [1, 2]}, False, id="a list may not have other items"),
        pytest.param({"a": [2, 1]}, {"a": [1, 2]}, False, id="nor another order"),
        pytest.param({"a": []}, {"a": [1]}, False, id="nor any item where none is asserted"),
        pytest.param({"a": []}, {"a": []}, True, id="two empty lists"),
        pytest.param({"a": []}, {"a": None}, False, id="null is no list"),
        pytest.param({"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}]}, True, id="items of a list are maps"),
        pytest.param({"a": [1]}, {"a": "x"}, False, id="a text is no list"),
        pytest.param({"a": {}}, {"a": {"b": 1}}, True, id="an empty map means anything"),
        pytest.param({"a": {}}, {"a": "x"}, True, id="even what is no map"),
        pytest.param({"a": {}}, {"a": None}, False, id="but not null"),
        pytest.param({"a": {"b": 1}}, {"a": "x"}, False, id="a text has no fields"),
        pytest.param({"a": 1}, {"a": 1.0}, True, id="numbers have one type"),
        pytest.param({"a": "1"}, {"a": 1}, False, id="a text is no number"),
        pytest.param({"a": True}, {"a": 1}, False, id="a flag is no number"),
        pytest.param({"a": False}, {"a": False}, True, id="the same flag"),
        pytest.param({"a": "x"}, {"a": {"b": 1}}, False, id="a map is no text"),
        pytest.param({"\\(a)\\": "\\(b)\\"}, {"(a)": "(b)"}, True, id="backslashes keep parentheses"),
        pytest.param({"a": "() "}, {"a": "() "}, True, id="these parentheses are a text"),
    ],
)
def test_an_assertion_holds_or_not(expected: Any, actual: Any, is_equal: bool) -> None:
    assert (list(unequal_fields(expected, actual)) == []) == is_equal


@pytest.mark.parametrize(
    "expected",
    [{"(length(@))": 1}, {"a": "(x)"}, {"~.a": {"b": 1}}, {"a": "b -> c"}, {"a": [{"(b == `1`)": True}]}],
)
def test_an_expression_is_refused_and_not_compared_as_text(expected: Any) -> None:
    with pytest.raises(SuiteError, match="expressions in assertions are not evaluated"):
        list(unequal_fields(expected, {"a": [{}]} if isinstance(expected.get("a"), list) else {"a": 1}))


def test_every_field_that_differs_is_named() -> None:
    expected = {"spec": {"size": 3, "ports": [{"port": 80}, {"port": 443}], "zone": "a"}}
    actual = {"spec": {"size": 4, "ports": [{"port": 80}, {"port": 8443}]}}
    differing = [unequal.field for unequal in unequal_fields(expected, actual)]
    assert differing == ["spec.size", "spec.ports[1].port", "spec.zone"]


def test_an_owner_without_a_uid_is_any_owner() -> None:
    owner = {"kind": "App", "name": "shop", "uid": ""}
    expected = {"metadata": {"ownerReferences": [owner]}}
    actual = {"metadata": {"ownerReferences": [{**owner, "uid": "a84a985e"}]}}
    assert list(unequal_fields(expected, actual)) == []
    other = {"metadata": {"ownerReferences": [{**owner, "uid": "b"}]}}
    assert [unequal.field for unequal in unequal_fields(other, actual)] == ["metadata.ownerReferences[0].uid"]


def resource(name: str, **annotations: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Lamp", "metadata": {"name": name, "annotations": annotations}}


def test_an_assertion_means_objects_by_type_name_and_annotations() -> None:
    rendered = [resource("a", role="hall"), resource("b", role="attic"), {"apiVersion": "v1", "kind": "Fan"}]

    def meant(expected: dict[str, Any]) -> list[str]:
        return [obj["metadata"]["name"] for obj in candidates(expected, rendered)]

    head = {"apiVersion": "v1", "kind": "Lamp"}
    assert meant(head) == ["a", "b"]
    assert meant({**head, "metadata": {"name": "b"}}) == ["b"]
    assert meant({**head, "metadata": {"annotations": {"role": "hall"}}}) == ["a"]
    assert meant({**head, "metadata": {"annotations": {"role": "cellar"}}}) == []
    assert meant({**head, "apiVersion": "v2"}) == []
