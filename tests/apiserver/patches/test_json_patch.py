"""JSON patches: what they cost and what they leave alone."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from crossply.apiserver.patches.json_patch import MAX_COPIED_BYTES, JsonPatchError, json_patch

TARGET: dict[str, Any] = {"a": {"b": {"c": 1}}, "items": [{"n": 1}, {"n": 2}], "untouched": {"deep": [1]}}


@pytest.mark.parametrize(
    "operations",
    [
        [
            {"op": "add", "path": "/a/b/d", "value": {"e": []}},
            {"op": "add", "path": "/a/b/d/e/-", "value": 1},
        ],
        [{"op": "remove", "path": "/items/0"}, {"op": "replace", "path": "/items/0/n", "value": 9}],
        [
            {"op": "move", "from": "/a/b", "path": "/items/0/b"},
            {"op": "add", "path": "/items/0/b/c", "value": 2},
        ],
        [{"op": "copy", "from": "/a", "path": "/b"}, {"op": "add", "path": "/b/b/c", "value": 2}],
    ],
)
def test_neither_the_object_nor_the_patch_is_changed(operations: list[Any]) -> None:
    target, value = copy.deepcopy(TARGET), copy.deepcopy(operations)
    first = json_patch(target, operations)
    assert (target, operations) == (TARGET, value)
    assert first != TARGET
    assert json_patch(target, operations) == first


def test_only_the_path_to_a_change_is_copied() -> None:
    patched = json_patch(TARGET, [{"op": "add", "path": "/a/b/c", "value": 2}])
    assert patched["a"]["b"] == {"c": 2}
    assert patched["untouched"] is TARGET["untouched"]
    assert patched["items"] is TARGET["items"]


def test_a_copy_is_another_value_than_its_source() -> None:
    operations = [{"op": "copy", "from": "/a", "path": "/b"}, {"op": "replace", "path": "/a/b/c", "value": 2}]
    patched = json_patch(TARGET, operations)
    assert (patched["a"]["b"]["c"], patched["b"]["b"]["c"]) == (2, 1)


def test_copies_of_a_value_into_itself_end_at_the_limit() -> None:
    bomb = [{"op": "copy", "from": "/a", "path": f"/a/k{n}"} for n in range(40)]
    with pytest.raises(JsonPatchError, match=f"exceeding the limit {MAX_COPIED_BYTES}"):
        json_patch(TARGET, bomb)


def test_copies_up_to_the_limit_are_performed() -> None:
    target = {"a": "x" * (MAX_COPIED_BYTES // 2 - 2)}  # with its quotes, half of what may be copied
    twice = [{"op": "copy", "from": "/a", "path": f"/{n}"} for n in range(2)]
    assert len(json_patch(target, twice)) == 3
    with pytest.raises(JsonPatchError):
        json_patch(target, [*twice, {"op": "copy", "from": "/1", "path": "/3"}])


def test_a_pointer_may_be_longer_than_the_stack_is_deep() -> None:
    with pytest.raises(JsonPatchError, match="missing path"):
        json_patch(TARGET, [{"op": "add", "path": "/a" * 100_000, "value": 1}])
    with pytest.raises(JsonPatchError, match="array index"):
        json_patch(TARGET, [{"op": "add", "path": "/items/" + "9" * 5000, "value": 1}])
