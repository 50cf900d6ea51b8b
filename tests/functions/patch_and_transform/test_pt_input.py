"""Inputs that cannot be read or make no sense are refused with one fatal result."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.functions.patch_and_transform import BASE, FATAL, messages, run_input, severities

UNREADABLE = (
    "cannot get Function input: cannot get function input *v1beta1.Resources from *v1.RunFunctionRequest: "
    "cannot unmarshal JSON from *structpb.Struct into *v1beta1.Resources: json: cannot unmarshal "
)


def template(**fields: Any) -> dict[str, Any]:
    return {"resources": [{"name": "one", "base": BASE, **fields}]}


def patched(**patch: Any) -> dict[str, Any]:
    return template(patches=[patch])


def transformed(**settings: Any) -> dict[str, Any]:
    return patched(fromFieldPath="a", transforms=[settings])


@pytest.mark.parametrize(
    ("function_input", "problem"),
    [
        ({"resource": []}, 'Go value of type v1beta1.Resources: unknown name "resource"'),
        ({"resources": {}}, "JSON object into Go value of type []v1beta1.ComposedTemplate"),
        ({"resources": [True]}, "JSON boolean into Go value of type v1beta1.ComposedTemplate"),
        (template(patches=[{"from": "a"}]), 'Go value of type v1beta1.ComposedPatch: unknown name "from"'),
        (patched(fromFieldPath=["a"]), "JSON array into Go value of type string"),
        (
            transformed(type="math", math={"multiply": 1.5}),
            'JSON number into Go value of type int64: cannot parse "1.5" as signed integer: invalid syntax',
        ),
        (
            {"patchSets": [{"name": "a", "patches": [{"type": "PatchSet", "patchSetName": "a"}]}]},
            'Go value of type v1beta1.PatchSetPatch: unknown name "patchSetName"',
        ),
    ],
)
def test_an_input_of_another_shape_is_refused(function_input: Any, problem: str) -> None:
    response = run_input(function_input)
    assert severities(response) == [FATAL]
    assert messages(response) == [UNREADABLE + problem]


@pytest.mark.parametrize(
    ("function_input", "problem"),
    [
        (None, "resources: Required value: resources or environment patches are required"),
        ({"resources": None}, "resources: Required value: resources or environment patches are required"),
        ({"resources": [None]}, "resources[0].name: Required value: name is required"),
        ({"patchSets": [{"patches": []}]}, "name: Required value: name is required"),
        (
            {"patchSets": [{"name": "a", "patches": [{"type": "PatchSet"}]}]},
            'patches[0].type: Invalid value: "PatchSet": '
            "patch type *v1beta1.PatchSetPatch does not support patch of type PatchSet",
        ),
        (patched(type="Nope"), 'resources[0].patches[0].type: Invalid value: "Nope": unknown patch type'),
        (
            patched(type="ToCompositeFieldPath"),
            "resources[0].patches[0].fromFieldPath: Required value: "
            "fromFieldPath must be set for patch type ToCompositeFieldPath",
        ),
        (
            patched(type="CombineFromComposite"),
            "resources[0].patches[0].combine: Required value: combine must be set for patch type "
            "CombineFromComposite",
        ),
        (
            patched(type="CombineFromComposite", combine={}),
            "resources[0].patches[0].toFieldPath: Required value: "
            "toFieldPath must be set for patch type CombineFromComposite",
        ),
        (
            patched(type="CombineFromComposite", toFieldPath="a", combine={"strategy": "sum"}),
            'resources[0].patches[0].combine.strategy: Invalid value: "sum": unknown strategy type',
        ),
        (
            patched(fromFieldPath="a", policy={"fromFieldPath": "Maybe"}),
            'resources[0].patches[0].policy.fromFieldPathPolicy: Invalid value: "Maybe": unknown '
            "fromFieldPathPolicy",
        ),
        (
            transformed(type="reverse"),
            'resources[0].patches[0].transforms[0].type: Invalid value: "reverse": unknown transform type',
        ),
        (
            transformed(type="map", map={}),
            "resources[0].patches[0].transforms[0].map.pairs: Required value: "
            "at least one pair must be specified if a map transform is specified",
        ),
        (
            transformed(type="match", match={"patterns": [{"type": "regexp", "regexp": "(", "result": 1}]}),
            'resources[0].patches[0].transforms[0].match.patterns[0].regexp: Invalid value: "(": '
            "invalid regexp",
        ),
        (
            transformed(type="string", string={"type": "Regexp", "regexp": {"match": "a(?!b)"}}),
            'resources[0].patches[0].transforms[0].string.regexp.match: Invalid value: "a(?!b)": '
            "invalid regexp",
        ),
        (
            transformed(type="convert", convert={"toType": "date"}),
            'resources[0].patches[0].transforms[0].convert.toType: Invalid value: "date": invalid type',
        ),
        (
            template(connectionDetails=[{"name": "a"}]),
            "resources[0].connectionDetails[0].type: Required value: connection detail type is required",
        ),
        (
            template(readinessChecks=[{"type": "MatchString", "fieldPath": "a"}]),
            "resources[0].readinessChecks[0].matchString: Required value: cannot be nil for type MatchString",
        ),
        (
            {"environment": {"patches": [{"type": "CombineToEnvironment"}]}},
            'environment.patches[0][type]: Invalid value: "CombineToEnvironment": invalid '
            "environment patch type",
        ),
    ],
)
def test_an_input_that_makes_no_sense_is_refused(function_input: Any, problem: str) -> None:
    response = run_input(function_input)
    assert severities(response) == [FATAL]
    assert messages(response) == [f"invalid Function input: {problem}"]


def test_the_first_error_is_reported() -> None:
    function_input = {
        "patchSets": [{"name": "a", "patches": [{"type": "Nope"}]}],
        "resources": [{"name": ""}],
        "environment": {"patches": [{"type": "Nope"}]},
    }
    assert messages(run_input(function_input)) == [
        'invalid Function input: patches[0].type: Invalid value: "Nope": unknown patch type'
    ]


def test_metadata_of_the_input_is_of_no_interest() -> None:
    function_input = {
        **template(),
        "apiVersion": "any/v1",
        "kind": "Thing",
        "metadata": {"name": "x", "labels": {"a": "b"}},
    }
    assert not run_input(function_input).results


def test_very_many_patches_are_refused() -> None:
    many = {"name": "s", "patches": [{"fromFieldPath": "a"}] * 400}
    uses = [{"type": "PatchSet", "patchSetName": "s"}] * 300
    response = run_input({"patchSets": [many], **template(patches=uses)})
    assert messages(response) == ["cannot resolve PatchSets: more than 100000 patches"]
