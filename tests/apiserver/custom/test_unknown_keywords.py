"""Keywords that do not exist."""

from __future__ import annotations

from crossply.apiserver.custom.form import default_definition
from crossply.apiserver.custom.unknown_keywords import unknown_keywords
from tests.apiserver.custom.samples import TEXT, definition, with_field


def test_unknown_keywords_are_told_and_dropped() -> None:
    rules = [{"rule": "true", "because": "so"}]
    made = with_field({**TEXT, "colour": "red", "x-kubernetes-validations": rules, "allOf": [{"size": 1}]})
    at = "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.f"
    assert unknown_keywords(made) == [
        f"{at}.colour",
        f"{at}.allOf[0].size",
        f"{at}.x-kubernetes-validations[0].because",
    ]
    assert unknown_keywords(default_definition(made)) == []


def test_what_is_inside_items_is_not_told() -> None:
    assert unknown_keywords(with_field({"type": "array", "items": {**TEXT, "colour": "red"}})) == []


def test_a_definition_of_the_wrong_shape_is_left_to_others() -> None:
    assert unknown_keywords({"spec": 5}) == unknown_keywords(definition(versions="x")) == []
