"""function-cidr: answers as the published function gives them, and what bounds a step."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.function_messages import SEVERITY_FATAL, Request, Resource, Response, State
from crossply.functions.builtin.cidr.function import MAX_SUBNETS, run
from crossply.functions.builtin.cidr.gjson_array_query import PathSyntaxError
from crossply.functions.builtin.cidr.gjson_path import ABSENT, lookup
from crossply.functions.builtin.cidr.networks import NetworkError, host, netmask, parse_network, subnet
from crossply.functions.reply_limits import Limits, TooMuchAtOnce, reset_limits, set_limits
from tests.support.functions.original_comparison import (
    Case,
    expected_answer,
    load_cases,
    load_recorded,
    our_answer,
)

CASES = load_cases("cidr")
RECORDED = load_recorded("cidr")
FRIENDS = {"friends": [{"name": "Ann", "nets": ["a", "b"]}, {"name": "Bob", "nets": ["b"], "old": None}]}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_answer_is_that_of_the_published_function(case: Case):
    assert our_answer(case, run) == expected_answer(case, RECORDED)


def answer(**parameters: Any) -> Response:
    return run(request(parameters))


def request(parameters: dict[str, Any]) -> Request:
    return Request(State(Resource({"kind": "XR", "spec": {"long": "9" * 10_000}})), input=parameters)


def fatal_message(response: Response) -> str:
    assert [result.severity for result in response.results] == [SEVERITY_FATAL]
    return response.results[0].message


@pytest.mark.parametrize(
    "parameters",
    [
        {"cidrFunc": "cidrsubnetloop", "prefix": "0.0.0.0/0", "newBits": [32.0], "netNumCount": 2.0**31},
        {"cidrFunc": "cidrsubnetloop", "prefix": "::/0", "newBits": [64.0], "netNumCount": 2.0**62},
        {"cidrFunc": "cidrsubnets", "prefix": "10.0.0.0/8", "newBits": [24.0] * (MAX_SUBNETS + 1)},
        {
            "cidrFunc": "multiprefixloop",
            "multiPrefix": [{"prefix": f"10.{n}.0.0/16", "newBits": [16.0] * 40_000} for n in range(2)],
        },
        {
            "cidrFunc": "multiprefixloop",
            "multiPrefix": [{"prefix": "10.0.0.0/16", "newBits": [1.0]}] * (MAX_SUBNETS + 1),
        },
    ],
    ids=["every address", "more than a machine can hold", "a long list", "two lists", "many prefixes"],
)
def test_more_subnets_than_the_limit_are_refused(parameters: dict[str, Any]):
    assert f"the limit is {MAX_SUBNETS}" in fatal_message(answer(**parameters))


def test_as_many_subnets_as_the_limit_are_calculated():
    response = answer(cidrFunc="cidrsubnetloop", prefix="10.0.0.0/8", newBits=[16.0], netNumCount=65536.0)
    assert response.desired is not None
    assert response.desired.composite is not None
    subnets = response.desired.composite.object["status"]["atFunction"]["cidr"]
    assert (len(subnets), subnets[0], subnets[-1]) == (65536, "10.0.0.0/24", "10.255.255.0/24")


@pytest.mark.parametrize("calculation", ["cidrsubnetloop", "cidrsubnets"])
def test_an_event_loop_is_left_when_subnets_take_long(calculation: str):
    token = set_limits(Limits(deadline=0, in_event_loop=True))
    try:
        with pytest.raises(TooMuchAtOnce):
            answer(cidrFunc=calculation, prefix="10.0.0.0/8", newBits=[16.0], netNumCount=65536.0)
    finally:
        reset_limits(token)


@pytest.mark.parametrize("parameters", [{"prefixField": "spec.long"}, {"prefix": "1" * 10_000 + "/8"}])
def test_an_error_shows_only_the_start_of_a_long_prefix(parameters: dict[str, Any]):
    assert len(fatal_message(answer(cidrFunc="cidrnetmask", **parameters))) < 300


def test_a_huge_extension_is_refused_without_computing_it():
    message = fatal_message(answer(cidrFunc="cidrsubnet", prefix="10.0.0.0/8", newBits=[2.0**62]))
    assert "insufficient address space to extend prefix of 8 by" in message


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
        ("::ffff:10.0.0.0/80", "::/80"),
        ("2001:db8::1/64", "2001:db8::/64"),
        ("1.2.3.4/0", "0.0.0.0/0"),
    ],
)
def test_a_network_is_written_as_go_writes_it(prefix: str, expected: str):
    assert str(parse_network(prefix)) == expected


@pytest.mark.parametrize(
    "prefix",
    ["", "/8", "10.0.0.0", "10.0.0.0/", "10.0.0.0/+8", "10.0.0.0/33", "::/129", "fe80::1%eth0/64", "1.2.3/8",
     "10.0.0.0/٣", "10.0.0.0/000000008", " 10.0.0.0/8", "10.0.0.0/8 "],
)  # fmt: skip
def test_an_invalid_network_is_refused(prefix: str):
    with pytest.raises(NetworkError):
        parse_network(prefix)


def test_a_prefix_can_be_shortened_but_not_below_zero():
    network = parse_network("10.1.0.0/16")
    assert str(subnet(network, -8, 0)) == "10.1.0.0/8"
    with pytest.raises(NetworkError):
        subnet(network, -17, 0)


def test_a_host_number_before_the_first_is_refused():
    with pytest.raises(NetworkError):
        host(parse_network("10.0.0.0/30"), -5)
    assert netmask(parse_network("::/0")) == "::"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("friends.1.name", "Bob"),
        ("friends|1|name", "Bob"),
        ("friends.#", 2.0),
        ("friends.#.name", ["Ann", "Bob"]),
        ("friends.#.nets.0", ["a", "b"]),
        ('friends.#(name="Ann").nets', ["a", "b"]),
        ('friends.#(name!="Ann")#.name', ["Bob"]),
        ('friends.#(name<"B")#.name', ["Ann"]),
        ('friends.#(name!%"A*")#.name', ["Bob"]),
        ('friends.#(nets.#(="a"))#.name', ["Ann"]),
        ('friends.#(nets)#|#', 2.0),
        ("friends.0.nets.@reverse.0", "b"),
        ("friends.#.nets|@flatten|#", 3.0),
        ("friends.@this.0.@keys", ["name", "nets"]),
        ("friends.two", ABSENT),
        ("friends.7", ABSENT),
        ("friends.0.name.first", ABSENT),
        ("fr*x.0", ABSENT),
        ("friends.#(old)#.name", []),
    ],
)  # fmt: skip
def test_a_context_path_leads_where_gjson_leads(path: str, value: Any):
    assert lookup(FRIENDS, path) == value or lookup(FRIENDS, path) is value


@pytest.mark.parametrize(
    "path", ["{friends,names}", "friends.@dig:x", "friends.#(a==~true)", "friends.#(name", "x" * 2000, "..0"]
)
def test_a_context_path_that_is_not_supported_is_an_error(path: str):
    with pytest.raises(PathSyntaxError):
        lookup(FRIENDS, path)
