"""Values that an author puts into resources: understood, sent as they are, or refused by their name."""

from __future__ import annotations

import dataclasses
import enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossply.compose.function_messages import Resource
from crossply.sdk import child_name
from crossply.values.protobuf_struct import to_wire
from tests.support.sdk.function_calls import EARLIER, both_ways, new_request


def test_whole_numbers_are_integers():
    values = []
    both_ways(lambda req, rsp: values.append((req.xr["spec"], list(range(req.xr["spec"]["count"])))))
    assert values[0] == ({"count": 3, "f": 1.5}, [0, 1, 2])
    assert type(values[1][0]["count"]) is int


class Size(enum.StrEnum):
    BIG = "big"


class Level(enum.Enum):
    HIGH = 7


@dataclasses.dataclass
class Model:
    kind: str = "Model"
    api_version: str = dataclasses.field(default="v1", metadata={"name": "apiVersion"})
    spec: dict | None = None
    unset: str | None = None


def test_common_python_values_are_converted():
    def compose(req, rsp):
        rsp.desired["odd"] = {"t": (1, 2), "s": Size.BIG, "l": Level.HIGH, "m": Model(spec={"a": 1})}
        rsp.desired["model"] = Model()
        rsp.desired["copy"] = req.observed["db"]
        rsp.desired["again"] = rsp.desired["old"]

    desired = both_ways(compose, new_request(observed={"db": Resource({"kind": "Db"})})).desired.resources
    assert desired["odd"].object == {
        "t": [1.0, 2.0],
        "s": "big",
        "l": 7.0,
        "m": {"kind": "Model", "apiVersion": "v1", "spec": {"a": 1.0}},
    }
    assert desired["model"].object == {"kind": "Model", "apiVersion": "v1"}
    assert desired["copy"].object == {"kind": "Db"}
    assert desired["again"] == desired["old"]


DEEP: dict = {}
_inner = DEEP
for _ in range(400):
    _inner["a"] = {}
    _inner = _inner["a"]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"spec": {"x": {1, 2}}}, 'desired resource "bad": spec.x is a set, which an object cannot hold'),
        ({"spec": {"list": [1, object]}}, "spec.list[1] is a type"),
        ({"spec": {3: "x"}}, "spec has a key that is not a string: 3"),
        ({"spec": {"x": float("nan")}}, "spec.x is nan"),
        ({"spec": {"x": 10**400}}, "spec.x is a number that is too large"),
        ({"spec": {"x": "\ud800"}}, "spec.x holds a lone surrogate"),
        ({"spec": {"x": b"bytes"}}, "spec.x is a bytes"),
        (DEEP, "nests deeper than 300 levels"),
        (["list"], "a list is not a resource"),
    ],
)
def test_a_value_that_cannot_be_sent_is_named(value, says):
    """At the line that puts it there, or at the end where it was put into something."""

    def assigned(req, rsp):
        rsp.desired["bad"] = value

    def changed(req, rsp):
        rsp.desired["bad"] = {}
        rsp.desired["bad"].update(value)

    response = both_ways(assigned)
    assert says in response.results[0].message
    assert response.results[0].message.startswith("test_function_values.py:")
    assert response.desired == EARLIER
    if isinstance(value, dict):
        assert says in both_ways(changed).results[0].message


def test_a_name_of_names_is_that_of_the_published_sdk():
    assert child_name("my-xr", "bucket") == "my-xr-bucket-05ecb"
    assert len(child_name("a" * 60, "b")) == 63


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=8), JSON, max_size=5).filter(lambda d: "inf" not in repr(d)))
def test_whatever_object_a_function_copies_arrives_as_it_was(fields):
    def compose(req, rsp):
        rsp.desired["copy"] = req.observed["o"]
        rsp.desired["opened"] = {}
        rsp.desired["opened"].update(req.observed["o"].to_dict())

    observed = {"o": Resource(to_wire(fields))}
    desired = both_ways(compose, new_request(observed=observed)).desired.resources
    assert desired["copy"].object == desired["opened"].object == to_wire(fields)
