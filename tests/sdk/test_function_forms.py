"""What can be a function, what it returns, and how it is tried out."""

from __future__ import annotations

import pytest

from crossply.compose.function_messages import SECOND
from crossply.sdk import function
from crossply.sdk.failures import NotAFunction, ValueRefused
from tests.support.sdk.function_calls import READY, XR, both_ways, failing


def test_a_function_returns_nothing_or_the_response():
    assert both_ways(lambda req, rsp: rsp).results == ()
    assert "returned a dict" in both_ways(lambda req, rsp: {"kind": "X"}).results[0].message


@pytest.mark.parametrize("body", [lambda req: None, lambda: None, lambda a, b, c: None, 5])
def test_only_a_callable_with_request_and_response_is_a_function(body):
    with pytest.raises(NotAFunction):
        function(body)


def test_functions_can_be_methods_and_objects_and_keep_their_words():
    class Counting:
        calls = 0

        def compose(self, req, rsp):
            self.calls += 1

        def __call__(self, req, rsp):
            self.calls += 1

    counting = Counting()
    function(counting.compose).try_out(XR)
    function(counting).try_out(XR)
    assert counting.calls == 2

    @function(ttl=5)
    def compose(req, rsp):
        """Says what it does."""

    assert (compose.name, compose.__doc__) == ("compose", "Says what it does.")
    assert both_ways(compose).ttl == 5 * SECOND


def test_a_function_is_tried_out_with_plain_dicts():
    @function
    def compose(req, rsp):
        config_maps = rsp.require("maps", "v1", "ConfigMap")
        rsp.desired["b"] = {
            "kind": "B",
            "n": len(config_maps or ()),
            "i": req.input.get("i"),
            "c": req.context.get("c"),
        }
        rsp.auto_ready()

    rsp = compose.try_out(
        XR, observed={"b": READY}, required={"maps": [{"kind": "M"}]}, input={"i": 1}, context={"c": "d"}
    )
    assert rsp.desired["b"] == {"kind": "B", "n": 1, "i": 1, "c": "d"}
    assert rsp.desired["b"].ready is True
    with pytest.raises(ValueRefused):
        function(lambda req, rsp: rsp.desired.update(x=5)).try_out(XR)
    with pytest.raises(KeyError):
        function(failing).try_out(XR)
