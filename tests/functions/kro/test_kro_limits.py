"""Resource graphs that would compute without end, fill the memory, or reach out."""

from __future__ import annotations

import resource
import time
from typing import Any

import pytest

from crossply.compose.function_messages import SEVERITY_FATAL
from crossply.functions.builtin.kro.cel.times import load_zones
from crossply.functions.builtin.kro.function import run
from tests.support.kro.cases import kinds, request_of

GENEROUS = 40.0
"""How long the machine may take for what is stopped after ten seconds."""

_DOUBLED = "x"
for _ in range(40):
    _DOUBLED = f"cel.bind(x, x + x, {_DOUBLED})"


def fatal_message(expression: str, **case: Any) -> str:
    template = {
        "apiVersion": "test.example.org/v1",
        "kind": "Probe",
        "metadata": {},
        "spec": {"a": f"${{{expression}}}"},
    }
    start = time.monotonic()
    answer = run(request_of({"resources": [{"id": "probe", "template": template}], **case}, kinds()))
    assert time.monotonic() - start < GENEROUS
    assert [result.severity for result in answer.results] == [SEVERITY_FATAL]
    return answer.results[0].message


@pytest.mark.parametrize(
    ("expression", "problems", "reason"),
    [
        (
            "lists.range(1000000).exists(a, a < 0) || lists.range(9).exists(a, a < 0)",
            ("takes more than 1,000,000 steps", "takes longer than 10 seconds"),
            "loops after loops",
        ),
        (
            "lists.range(100000).exists(a, lists.range(100000).exists(b, false))",
            ("takes more than 1,000,000 steps", "takes longer than 10 seconds"),
            "loops in loops",
        ),
        (f'cel.bind(x, "x", {_DOUBLED})', ("memory", "ended its process"), "a text that doubles"),
        ("lists.range(1000000000)", ("exceeds maximum allowed",), "a list that is too long"),
        (
            'cel.bind(t, random.seededString(1000000, "t"), ("0" + t).replace("0", t))',
            ("longer than",),
            "a text that is too long",
        ),
        ('random.seededString(1000000000, "x")', ("must be at most",), "a long random text"),
        (
            f"{'(' * 3000}1{')' * 3000}",
            ("expression recursion limit exceeded: 250",),
            "brackets without end",
        ),
        (f"{'[' * 300}1{']' * 300}", ("expression recursion limit exceeded: 250",), "lists in lists"),
        ("1" + " + 1" * 20000, ("max recursion depth exceeded",), "a long sum"),
        ('"%.101f".format([1.0])', ("exceeds maximum allowed precision",), "many digits"),
        ('"a".matches("a{1000}{1000}")', ("invalid repeat count", "error parsing regexp"), "a pattern"),
        (
            'timestamp("2024-01-01T00:00:00Z").getHours("/etc/passwd")',
            ("unknown time zone",),
            "a file as a zone",
        ),
    ],
)
def test_kro_a_bomb_ends_soon_with_a_message(expression: str, problems: tuple[str, ...], reason: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    message = fatal_message(expression)
    assert any(problem in message for problem in problems), message
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


def test_names_of_time_zones_are_found_in_time_that_grows_with_the_text() -> None:
    start = time.process_time()
    load_zones("A" * (2 << 20))
    assert time.process_time() - start < GENEROUS


def test_kro_works_after_a_bomb() -> None:
    fatal_message("lists.range(100000).exists(a, lists.range(100000).exists(b, false))")
    template = {
        "apiVersion": "test.example.org/v1",
        "kind": "Probe",
        "metadata": {},
        "spec": {"a": "${1 + 1}"},
    }
    answer = run(request_of({"resources": [{"id": "probe", "template": template}]}, kinds()))
    assert answer.desired is not None
    assert answer.desired.resources["probe"].object["spec"] == {"a": 2.0}


def test_kro_a_chain_of_many_resources_is_evaluated() -> None:
    def node(index: int) -> dict[str, Any]:
        spec = {"networkId": f"${{node{index - 1}.metadata.name}}"} if index else {}
        template = {"apiVersion": "net.example.org/v1", "kind": "Subnet", "metadata": {}, "spec": spec}
        return {"id": f"node{index}", "template": template}

    observed = {
        f"node{index}": {
            "apiVersion": "net.example.org/v1",
            "kind": "Subnet",
            "metadata": {"name": f"n{index}"},
        }
        for index in range(300)
    }
    answer = run(
        request_of(
            {"resources": [node(index) for index in reversed(range(300))], "observed": observed}, kinds()
        )
    )
    assert answer.results == ()
    assert answer.desired is not None
    assert len(answer.desired.resources) == 300
    assert answer.desired.resources["node299"].object["spec"] == {"networkId": "n298"}
