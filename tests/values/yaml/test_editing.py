"""One item of a list is changed in a text; all other lines stay as they are."""

from __future__ import annotations

import pytest

from crossply.values.yaml import load
from crossply.values.yaml.text_edit import item_inserted, item_replaced

TEXT = b"""\
# Ours.
spec:
  z: 1   # first

  things:   # all of them
    # one
    - name: a
      # why
      size: 1  # small
    # two
    - {name: b}

  # below
  a: [x]
# end
"""
PATH = ("spec", "things")


def lines_added(old: bytes, new: str) -> list[str]:
    """The lines that are new; all old ones have to be there, in their order."""
    added = []
    rest = old.decode().splitlines()
    for line in new.splitlines():
        if rest and line == rest[0]:
            rest.pop(0)
        else:
            added.append(line)
    assert rest == []
    return added


@pytest.mark.parametrize("index", [0, 2])
def test_an_item_is_put_in_and_nothing_else_changes(index: int) -> None:
    value = load(TEXT)
    value["spec"]["things"].insert(index, {"name": "c", "size": 3})
    text = item_inserted(TEXT, value, PATH, index)
    assert lines_added(TEXT, text) == ["    - name: c", "      size: 3"]
    assert load(text) == value


def test_an_item_is_replaced_with_its_comments() -> None:
    value = load(TEXT)
    value["spec"]["things"][0] = {"name": "a", "size": 2}
    assert item_replaced(TEXT, value, PATH, 0) == TEXT.decode().replace("size: 1  #", "size: 2 #")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("spec:\n  z: 1\nkind: X", "spec:\n  z: 1\n  things:\n  - name: c\nkind: X\n"),
        ("spec:\n    z: 1 # one\n# end\n", "spec:\n    z: 1 # one\n    things:\n    - name: c\n# end\n"),
        ("spec: {z: 1} # flow\n", "spec: # flow\n  things:\n  - name: c\n  z: 1\n"),
        ("spec:\n  things: [] # none\n", "spec:\n  things: # none\n  - name: c\n"),
    ],
)
def test_a_list_begins_where_there_was_none(text: str, expected: str) -> None:
    value = load(text)
    value["spec"]["things"] = [{"name": "c"}]
    assert item_inserted(text.encode(), value, PATH, 0) == expected


def test_a_list_in_brackets_is_rewritten_with_its_comments() -> None:
    text = b"spec:\n  z: 1 # one\n  things: [{name: a}] # all\n"
    value = load(text)
    value["spec"]["things"].insert(0, {"name": "c"})
    changed = item_inserted(text, value, PATH, 0)
    assert load(changed) == value
    assert "# one" in changed
    assert "# all" in changed
