"""Scripts in Starlark that would fill the memory, nest without end, or reach out."""

from __future__ import annotations

import resource
import time

import pytest

from crossply.compose.function_messages import SEVERITY_FATAL, Request, Resource, State
from crossply.functions.builtin.starlark.function import run

GENEROUS = 20.0
"""How long the machine may take for what should take a second."""


def fatal_message(script: str) -> str:
    start = time.monotonic()
    answer = run(Request(State(Resource({})), input={"script": f"def main(req):\n{script}"}, tag="t"))
    assert time.monotonic() - start < GENEROUS
    assert [result.severity for result in answer.results] == [SEVERITY_FATAL]
    return answer.results[0].message


@pytest.mark.parametrize(
    ("body", "problem", "reason"),
    [
        ("    return main(req)\n", "Starlark stack overflow", "recursion"),
        ("    return 1 << 1000000000\n", "shift count too large: 1000000000", "a huge shift"),
        ("    x = 'a' * (1 << 40)\n", "repeat count 1099511627776 too large", "a huge text"),
        (
            "    x = 'a' * (1 << 29)\n",
            "script.star:2:13: takes more than 256 MiB of memory",
            "a text just too huge",
        ),
        ("    x = [0] * (1 << 30)\n", "excessive repeat (1 * 1073741824 elements)", "a huge list"),
        (
            "    x = []\n    for i in range(1000000000):\n        x.append('x' * 1000 + str(i))\n",
            ": takes more than 256 MiB of memory",
            "a list that grows",
        ),
        (
            "    x = 'x'\n    for i in range(100):\n        x = x + x\n",
            "script.star:4:|script.star:3:|ended its process",
            "a text that doubles",
        ),
        (
            "    x = [1]\n    for i in range(5000):\n        x = [x]\n    return {'context': {'x': x}}\n",
            "Starlark stack overflow",
            "a list in a list, and so on",
        ),
        (
            "    x = [1]\n    for i in range(300):\n        x = [x]\n    return {'context': {'x': x}}\n",
            "cannot pass on what the script made: Recursion limit reached",
            "a list in a list, but not so often",
        ),
        ("    return {'context': {'x': 'é'[:1]}}\n", "surrogates not allowed", "half a character"),
        (f"    return {'(' * 20_000}1{')' * 20_000}\n", "script|ended its process", "brackets without end"),
        ("    x = [i for i in range(1 << 28)]\n", "script.star|ended its process", "a comprehension"),
        ("    return regex.match('a{1000}{1000}', 'a')\n", "regex.match: error parsing regexp", "a pattern"),
        (
            "    return yaml.decode('[' * 100000)\n",
            "yaml: line 1: exceeded max depth of 256",
            "YAML without end",
        ),
        ("    return json.decode('[' * 100000)\n", "script", "JSON without end"),
    ],
)
def test_starlark_loop_a_bomb_fails_soon_with_its_place(body: str, problem: str, reason: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    message = fatal_message(body)
    assert any(alternative in message for alternative in problem.split("|")), (reason, message)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


@pytest.mark.parametrize(
    "name",
    [
        "open",
        "eval",
        "exec",
        "__import__",
        "globals",
        "getattr(req, '__class__')",
        "().__class__",
        "breakpoint",
    ],
)
def test_starlark_has_no_access_to_python(name: str) -> None:
    assert "script.star:2:" in fatal_message(f"    return {name}\n")


def test_the_request_that_a_script_changes_is_its_own() -> None:
    xr = {"spec": {"a": 1.0}}
    script = "def main(req):\n    req['observed']['composite']['resource']['spec']['a'] = 2\n    return {}\n"
    assert run(Request(State(Resource(xr)), input={"script": script}, tag="t")).results == ()
    assert xr == {"spec": {"a": 1.0}}
