"""What holds for any configurations of any managers."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.apply import ApplyConflict, apply, update
from crossply.apply.field_sets import intersection, paths
from crossply.values.deepcopy import deepcopy
from tests.support.apply_widgets import LATER, MAIN, NOW, stored, widget

WORD = st.sampled_from(["a", "b", "c"])
ITEM = st.fixed_dictionaries({"name": WORD}, optional={"value": WORD, "tags": st.lists(WORD, unique=True)})
PORT = st.fixed_dictionaries({"port": st.integers(0, 2)}, optional={"protocol": st.just("UDP"), "name": WORD})
ANY = st.recursive(
    WORD | st.integers(0, 2) | st.booleans(), lambda inner: st.dictionaries(WORD, inner, max_size=2)
)
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "text": WORD,
        "count": st.integers(0, 2),
        "words": st.lists(WORD, max_size=2),
        "tags": st.lists(WORD, unique=True, max_size=3),
        "items": st.lists(ITEM, unique_by=lambda item: item["name"], max_size=3),
        "ports": st.lists(PORT, unique_by=lambda item: (item["port"], item.get("protocol")), max_size=3),
        "map": st.dictionaries(WORD, WORD, max_size=2),
        "block": st.dictionaries(WORD, WORD, max_size=2),
        "struct": st.fixed_dictionaries({}, optional={"a": WORD, "b": WORD}),
        "free": st.dictionaries(WORD, ANY, max_size=2),
    },
)


def _filled(value):
    """The value without empty containers: naming one is pruned to null first, for a server to default."""
    if isinstance(value, dict):
        members = {name: _filled(member) for name, member in value.items()}
        return {name: member for name, member in members.items() if member not in ({}, [])}
    return [_filled(item) for item in value] if isinstance(value, list) else value


FILLED = SPECS.map(lambda spec: {"flag": True, **_filled(spec)})
MANY = settings(max_examples=150, deadline=None)


@MANY
@given(st.lists(st.tuples(st.sampled_from("xyz"), FILLED), min_size=1, max_size=4))
def test_applying_twice_is_applying_once(steps) -> None:
    live = None
    for manager, spec in steps:
        live = stored(apply(live, widget(spec), MAIN, manager, NOW, True).object)
    manager, spec = steps[-1]
    second = apply(live, widget(spec), MAIN, manager, LATER)
    assert not second.changed
    assert second.object == live


@MANY
@given(SPECS, SPECS)
def test_after_a_forced_apply_only_equal_values_are_shared(first, second) -> None:
    applied = stored(apply(None, widget(first), MAIN, "a", NOW).object)
    both = apply(applied, widget(second), MAIN, "b", NOW, True).object
    sets = {entry["manager"]: entry["fieldsV1"] for entry in both["metadata"].get("managedFields", [])}
    shared = intersection(sets.get("a", {}), sets.get("b", {}))
    for path in paths(shared):
        assert _at(first, path[1:]) == _at(second, path[1:]), path


@MANY
@given(SPECS, SPECS)
def test_an_apply_conflicts_or_equals_the_forced_one(first, second) -> None:
    applied = stored(apply(None, widget(first), MAIN, "a", NOW).object)
    forced = apply(applied, widget(second), MAIN, "b", NOW, True).object
    with contextlib.suppress(ApplyConflict):
        assert apply(applied, widget(second), MAIN, "b", NOW).object == forced
        return
    with pytest.raises(ApplyConflict, match="Apply failed with"):
        apply(applied, widget(second), MAIN, "b", NOW)


@MANY
@given(SPECS, SPECS)
def test_writes_leave_their_arguments_alone(first, second) -> None:
    live = stored(apply(None, widget(first), MAIN, "a", NOW).object)
    patch, new = widget(second), {**live, "spec": second}
    before = deepcopy([live, patch, new])
    apply(live, patch, MAIN, "b", NOW, True)
    update(live, new, MAIN, "u", NOW)
    assert [live, patch, new] == before


def _at(spec, path):
    """The value at a field, as far as owning it goes: an item of a list stands for itself."""
    value = spec
    for element in path:
        if element[0] != "f":
            return None
        value = value.get(element[2:])
    return None if isinstance(value, dict) else value
