"""What scripts in Starlark can call, and the schemas that they can make."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.messages import Resource
from tests.support.functions.starlark import answered, composed, said


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ('get(oxr, "spec.region")', "eu"),
        ('get(oxr, "spec.no.where", "default")', "default"),
        ('get(oxr, ["metadata", "labels", "a.b/c"])', "dotted"),
        ('get_label(oxr, "a.b/c")', "dotted"),
        ('get_annotation(oxr, "d.e/f") + get_annotation(oxr, "no", "!")', "noted!"),
        ('oxr["spec"]["ratio"]', 0.5),
        ('type(oxr["spec"]["count"])', "int"),
        ('observed["db"]["status"]["host"]', "h"),
        ('get_observed("db", "status.host")', "h"),
        ('get_observed("nobody", "status.host", "none")', "none"),
        ('[is_observed("db"), is_observed("nobody")]', [True, False]),
        ('observed_body("nobody", {"a": 1})', {"a": 1.0}),
        (
            'get_condition("db", "Ready")',
            {"status": "True", "reason": "Available", "message": "", "lastTransitionTime": ""},
        ),
        ('get_condition("db", "Nothing")', None),
        ('environment["zone"]', "north"),
        ('extra_resources["configs"][0]["data"]', "d"),
        ('get_extra_resource("configs", "data")', "d"),
        ('get_extra_resource("nobody", "data", "none")', "none"),
        ('get_extra_resources("configs", "data")', ["d", "e"]),
        ('get_extra_resources("nobody")', []),
        ('dict.merge({"a": 1}, {"b": 2})', {"a": 1.0, "b": 2.0}),
        ('dict.deep_merge({"a": {"b": 1}}, {"a": {"c": 2}})', {"a": {"b": 1.0, "c": 2.0}}),
        ('dict.pick({"a": 1, "b": 2}, ["a", "z"])', {"a": 1.0}),
        ('dict.omit({"a": 1, "b": 2}, ["a", "z"])', {"b": 2.0}),
        ('dict.compact({"a": None, "b": [{"c": None}]})', {"b": [{}]}),
        ('dict.has_path({"a": {"b": None}}, "a.b")', True),
        ('json.encode({"a": [1, True]})', '{"a":[1,true]}'),
        ('json.decode("[1, 2]")', [1.0, 2.0]),
        ('crypto.sha256("hello world")[:8]', "b94d27b9"),
        ('crypto.stable_id("a", length = 4)', "ca97"),
        ('crypto.hmac_sha256("k", "m")[:4]', "b600"),
        ('encoding.b64dec(encoding.b64enc("hé"))', "hé"),
        ('encoding.b64url_enc("a") + encoding.b64url_dec("YQ")', "YQa"),
        ('encoding.b32enc("hello") + encoding.b32dec("NBSWY3DP")', "NBSWY3DPhello"),
        ('encoding.hex_enc("hi") + encoding.hex_dec("6869")', "6869hi"),
        ('regex.match("[0-9]+", "abc1")', True),
        ('regex.find("[0-9]+", "abc123def")', "123"),
        ('regex.find("[0-9]+", "abc")', None),
        ('regex.find_all("[a-z]", "a1b2")', ["a", "b"]),
        (r'regex.find_groups("(\\w+)@(\\w+)", "user@host")', ["user", "host"]),
        (r'regex.replace("(\\w+) (\\w+)", "hello world x y", "$2 $1")', "world hello x y"),
        ('regex.replace_all("[0-9]", "a1b2", "<${0}>$$")', "a<1>$b<2>$"),
        ('regex.split(",", "a,b")', ["a", "b"]),
        ('yaml.decode("a: [1, b]")', {"a": [1.0, "b"]}),
        ('yaml.encode({"a": [1]})', "a:\n- 1\n"),
        ('yaml.decode_stream("a: 1\\n---\\nb: 2\\n")', [{"a": 1.0}, {"b": 2.0}]),
        ("struct(x = 1).x", 1.0),
        ("1 << 100", float(1 << 100)),
    ],
)
def test_what_scripts_can_call(expression: str, value: Any) -> None:
    more: dict[str, Any] = {
        "context": {"apiextensions.crossplane.io/environment": {"zone": "north"}},
        "required_resources": {"configs": (Resource({"data": "d"}), Resource({"data": "e"}), Resource({}))},
    }
    assert said(expression, **more) == value


SCHEMAS = """
Rule = schema("Rule", action = field(type = "string", default = "Allow"), address = field(required = True))
Account = schema("Account",
    location = field(type = "string", required = True),
    sku = field(type = "string", default = "Small", enum = ["Small", "Large"]),
    first = field(type = Rule),
    rules = field(type = "list", items = Rule),
)
"""


def test_schemas_make_dicts_and_fill_in_defaults() -> None:
    source = SCHEMAS + 'v = Account(location = "eu", first = {"address": 1}, rules = [Rule(address = "x")])\n'
    assert composed(f'{source}Resource("r", {{"v": v}}, labels = None)')["r"].object["v"] == {
        "location": "eu",
        "sku": "Small",
        "first": {"action": "Allow", "address": 1.0},
        "rules": [{"action": "Allow", "address": "x"}],
    }


def test_schemas_tell_all_mistakes_at_once() -> None:
    wrong = 'Account(sku = "Huge", first = {"action": 1}, rules = [{"adress": "x"}, 2], colour = "red")'
    (result,) = answered(f"{SCHEMAS}{wrong}").results
    assert result.message.startswith(
        "starlark execution failed: composition.star:9: fail: Account: 8 validation errors:"
    )
    assert result.message.splitlines()[1:] == [
        "- colour: unknown field",
        "- location: required field missing",
        '- sku: value "Huge" not in enum ["Small","Large"]',
        "- first.action: expected string, got int (1)",
        "- first.address: required field missing",
        "- rules[0].adress: unknown field",
        "- rules[0].address: required field missing",
        "- rules[1]: expected dict, got int (2)",
    ]
