"""Client-side apply as kubectl does it: fields applied last and no longer desired are removed."""

from __future__ import annotations

import json

from crossply.control.planning.kubectl_apply import LAST_APPLIED, three_way
from crossply.values.merge_patch import merge_patch


def thing(**spec):
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "it"}, "spec": spec}


def test_fields_no_longer_in_the_applied_file_are_removed_and_the_rest_stays():
    live = thing(other="by others", old=1, size=1, inner={"a": 1, "b": 2})
    patch = three_way(thing(old=1, size=1, inner={"a": 1, "b": 2}), thing(size=2, inner={"a": 1}))
    assert merge_patch(live, patch)["spec"] == {"other": "by others", "size": 2, "inner": {"a": 1}}


def test_fields_that_were_never_applied_stay():
    assert merge_patch(thing(other=1), three_way({}, thing(size=2)))["spec"] == {"other": 1, "size": 2}


def test_the_last_applied_annotation_equals_that_of_kubectl():
    desired = thing(text="<a>")
    note = three_way({}, desired)["metadata"]["annotations"][LAST_APPLIED]
    assert note == (
        '{"apiVersion":"v1","kind":"Thing","metadata":{"annotations":{},"name":"it"},'
        '"spec":{"text":"\\u003ca\\u003e"}}\n'
    )


def test_a_note_never_holds_a_note():
    desired = {**thing(), "metadata": {"name": "it", "annotations": {LAST_APPLIED: "{}", "a": "b"}}}
    note = three_way({}, desired)["metadata"]["annotations"][LAST_APPLIED]
    assert json.loads(note)["metadata"]["annotations"] == {"a": "b"}


def test_status_is_not_applied():
    assert "status" not in three_way({}, {**thing(), "status": {"a": 1}})
