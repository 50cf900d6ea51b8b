"""Whatever an object looks like, a conversion gives a result or an error that the user can act on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.convert.claim_to_composite import CompositeOptions, claim_to_composite
from crossply.convert.current_composition import FunctionNames
from crossply.convert.manifest_converter import Converter
from crossply.convert.new_composition import composition_for
from crossply.convert.new_definition import definition_of_example, definition_of_simple_schema
from crossply.errors import CrossplyError
from crossply.kinds.project import parse_project
from crossply.values.deepcopy import deepcopy
from crossply.values.yaml import dump, load

GROUP = "apiextensions.crossplane.io"
OBJECTS: list[dict[str, Any]] = [
    {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Composition",
        "metadata": {"name": "c", "labels": {"a": "b"}},
        "spec": {
            "from": {"kind": "X"},
            "to": [{"base": {}}],
            "compositeTypeRef": {"kind": "X"},
            "patchSets": [{"name": "s", "patches": [{"fromFieldPath": "a"}]}],
            "environment": {"defaultData": {}, "patches": [{}], "policy": {"resolution": "Optional"}},
            "resources": [
                {
                    "connectionDetails": [{"fromConnectionSecretKey": "k"}],
                    "patches": [
                        {
                            "policy": {"mergeOptions": {"appendSlice": True}},
                            "transforms": [{"math": {"multiply": 2}}],
                        }
                    ],
                }
            ],
        },
    },
    {
        "apiVersion": f"{GROUP}/v1",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": "xs.acme.test"},
        "spec": {
            "group": "acme.test",
            "names": {"kind": "X", "plural": "xs"},
            "claimNames": {"kind": "C", "plural": "cs"},
            "versions": [{"name": "v1", "served": True, "referenceable": True}],
        },
    },
    {
        "apiVersion": "acme.test/v1",
        "kind": "C",
        "metadata": {"name": "x", "namespace": "n", "labels": {"a": "b"}, "annotations": {"a": "b"}},
        "spec": {
            "compositionRef": {"name": "c"},
            "list": [{"a": 1}, {"b": 2.5}],
            "text": "string | default=x",
        },
        "status": {"a": "${b}", "c": {"d": "[]T | minItems=1"}},
    },
    {
        "apiVersion": "dev.crossplane.io/v1alpha1",
        "kind": "Project",
        "metadata": {"name": "p"},
        "spec": {
            "repository": "r",
            "paths": {"apis": "a"},
            "dependencies": [{"type": "xpkg", "xpkg": {"package": "p", "version": "v"}}],
        },
    },
]
JUNK = st.sampled_from(
    [None, True, 0, 1.5, "", "x", "map[string]", [], [None], ["x"], {}, {"": None}, {"a": []}]
)


def convert_all(obj: dict[str, Any]) -> Any:
    return Converter([OBJECTS[1]], FunctionNames(), "").convert(obj)


CONVERSIONS: list[Callable[[dict[str, Any]], Any]] = [
    convert_all,
    lambda obj: Converter([obj], FunctionNames(), ""),
    lambda obj: claim_to_composite(obj, CompositeOptions(), lambda: "abcde"),
    lambda obj: definition_of_example(obj, ""),
    lambda obj: definition_of_simple_schema(obj, ""),
    lambda obj: composition_for(obj, "", ""),
    parse_project,
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


def damaged(value: Any, path: tuple[Any, ...], junk: Any) -> Any:
    if not path:
        return junk
    value[path[0]] = damaged(value[path[0]], path[1:], junk)
    return value


@pytest.mark.parametrize("number", range(len(CONVERSIONS)))
@given(data=st.data())
def test_a_damaged_object_is_converted_or_refused(number: int, data: st.DataObject) -> None:
    obj = deepcopy(data.draw(st.sampled_from(OBJECTS)))
    for _ in range(2):
        path = data.draw(st.sampled_from(places(obj)[1:]))
        obj = damaged(obj, path, deepcopy(data.draw(JUNK)))
    with contextlib.suppress(CrossplyError):
        CONVERSIONS[number](obj)


@given(data=st.data())
def test_a_converted_document_can_be_written(data: st.DataObject) -> None:
    obj = deepcopy(data.draw(st.sampled_from(OBJECTS)))
    obj = damaged(obj, data.draw(st.sampled_from(places(obj)[1:])), deepcopy(data.draw(JUNK)))
    try:
        converted = convert_all(obj)
    except CrossplyError:
        return
    if converted is not None:
        assert load(dump(converted.value)) == converted.value
