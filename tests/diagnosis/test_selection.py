"""Why an XR uses this Composition and this revision."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.engine_field_paths import MODERN
from crossply.diagnosis.composition_selection_reason import Selection, explain_selection
from crossply.kinds.definition import parse_definition

Object = dict[str, Any]


def definition(**spec: Any) -> Any:
    names = {"kind": "App", "plural": "apps"}
    body = {"group": "acme.test", "names": names, "versions": [], **spec}
    return parse_definition({"apiVersion": "apiextensions.crossplane.io/v2", "kind": "X", "spec": body})


def composition(name: str, kind: str = "App", **labels: str) -> Object:
    type_ref = {"apiVersion": "acme.test/v1", "kind": kind}
    return {"metadata": {"name": name, "labels": labels}, "spec": {"compositeTypeRef": type_ref}}


def revision(number: int) -> Object:
    return {"metadata": {"name": f"r{number}"}, "spec": {"revision": number}}


def explained(machinery: Object, chosen: bool = False, **spec: Any) -> Selection:
    fields = {"f:spec": {"f:crossplane": {"f:compositionRef": {"f:name": {}}}}}
    manager = {"manager": "crossply" if chosen else "kubectl", "fieldsV1": fields}
    metadata = {"name": "x", "managedFields": [manager]}
    xr = {
        "apiVersion": "acme.test/v1",
        "kind": "App",
        "metadata": metadata,
        "spec": {"crossplane": machinery},
    }
    compositions = [composition("apps", tier="a"), composition("large"), composition("other", "Db")]
    return explain_selection(xr, MODERN, definition(**spec), compositions, [revision(1), revision(2)])


def uses(name: str, **more: Any) -> Object:
    return {"compositionRef": {"name": name}, "compositionRevisionRef": {"name": "r2"}, **more}


@pytest.mark.parametrize(
    ("machinery", "spec", "sentence"),
    [
        (uses("apps"), {}, "Composition apps: named by its compositionRef"),
        (uses("aps"), {}, "it does not exist; did you mean apps?"),
        (uses("other"), {}, "it is not for App: see its compositeTypeRef"),
        (uses("apps"), {"enforcedCompositionRef": {"name": "apps"}}, "enforced by its definition"),
        (uses("apps"), {"defaultCompositionRef": {"name": "apps"}}, "the default of its definition"),
        (uses("apps", compositionSelector={"matchLabels": {"tier": "a"}}), {}, "matched tier=a"),
        (
            {"compositionSelector": {"matchLabels": {"tier": "b"}}},
            {},
            "no Composition: its compositionSelector wants tier=b, but apps has tier=a; large has no labels",
        ),
    ],
)
def test_the_composition_is_explained(machinery: Object, spec: Object, sentence: str) -> None:
    assert sentence in explained(machinery, **spec).composition


def test_a_selection_by_the_control_plane_differs_from_one_by_a_user() -> None:
    assert "chosen at random when it was created; for App there are apps, large now" in (
        explained(uses("apps"), chosen=True).composition
    )


@pytest.mark.parametrize(
    ("machinery", "sentence"),
    [
        ({}, "revision 2 (r2): the newest, compositionUpdatePolicy is Automatic"),
        (
            {"compositionUpdatePolicy": "Manual", "compositionRevisionRef": {"name": "r1"}},
            "revision 1 (r1): pinned, compositionUpdatePolicy is Manual; the newest is 2 (r2)",
        ),
        (
            {"compositionUpdatePolicy": "Manual", "compositionRevisionRef": {"name": "r0"}},
            "revision r0: pinned, compositionUpdatePolicy is Manual, and it does not exist any more; "
            "the newest is 2 (r2)",
        ),
        (
            {
                "compositionRevisionRef": {"name": "r1"},
                "compositionRevisionSelector": {"matchLabels": {"channel": "old"}},
            },
            "revision 1 (r1): the newest that its compositionRevisionSelector admits (channel=old); "
            "the newest is 2 (r2)",
        ),
    ],
)
def test_the_revision_is_explained(machinery: Object, sentence: str) -> None:
    assert explained(uses("apps", **machinery)).revision == sentence
