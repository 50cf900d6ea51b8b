"""JSON without orjson: the same values and errors as with it."""

from __future__ import annotations

import subprocess
import sys

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.values import quick_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.characters(codec="utf-8"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
LOADED = """
import sys
from crossply.values import quick_json
assert quick_json.loads(quick_json.dumps({"b": [1, 2.5, "\\u00e4", None], "a": True}, sort_keys=True))
print("orjson" in sys.modules)
quick_json.dumps([2**63 - 1])
print("orjson" in sys.modules)
"""


@pytest.fixture
def without_orjson(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has not loaded orjson; it is loaded from files again where it is needed."""
    present = {name: module for name, module in sys.modules.items() if name.split(".")[0] != "orjson"}
    monkeypatch.setattr(quick_json, "sys", type("Modules", (), {"modules": present}))


def outcome(call, *arguments, **options) -> object:
    try:
        return call(*arguments, **options)
    except (TypeError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.usefixtures("without_orjson")
@given(VALUES)
def test_what_is_written_reads_as_what_orjson_writes(value: object) -> None:
    ours, theirs = outcome(quick_json.dumps, value), outcome(orjson.dumps, value)
    if isinstance(ours, bytes) and isinstance(theirs, bytes):
        ours, theirs = orjson.loads(ours), orjson.loads(theirs)
    assert ours == theirs


@pytest.mark.usefixtures("without_orjson")
@given(VALUES.map(lambda value: repr(value).replace("'", '"').encode("utf-8", "replace")) | st.binary())
def test_what_is_read_is_what_orjson_reads(data: bytes) -> None:
    assert repr(outcome(quick_json.loads, data)) == repr(outcome(orjson.loads, data))


def test_orjson_is_loaded_only_where_the_two_could_differ() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
