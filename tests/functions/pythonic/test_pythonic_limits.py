"""Composites that reach out, fill the memory or nest without end."""

from __future__ import annotations

import resource
import time

import pytest

from crossply.compose.function_messages import SEVERITY_FATAL, Request, Resource, Response, State
from crossply.functions.builtin.pythonic.function import run

GENEROUS = 20.0
"""How long the machine may take for what should take a second."""

XR = {"apiVersion": "example.org/v1", "kind": "Shop", "metadata": {"name": "corner"}, "spec": {"a": "b"}}
SYS = "import json\nsys = json.codecs.sys\n"


def composed(body: str, **fields: object) -> Response:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    program = f"class Shop(BaseComposite):\n  def compose(self):\n{lines}"
    return run(Request(State(Resource(XR)), input={"composite": program, **fields}, tag="t"))


def fatal_message(answer: Response) -> str:
    assert [result.severity for result in answer.results] == [SEVERITY_FATAL]
    return answer.results[0].message


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("open('/etc/passwd')", "Compose exception: name 'open' is not defined (composite:3, in compose)"),
        (
            "import os",
            "Compose exception: module 'os' is not there for scripts (docs/reference/functions/pythonic.md",
        ),
        ("import boto3", "--function-runtime container"),
        ("import sys", "module 'sys' is not there"),
        ("import socket", "module 'socket' is not there"),
        ("import subprocess", "module 'subprocess' is not there"),
        ("import ctypes", "module 'ctypes' is not there"),
        ("from . import x", "is not there for scripts"),
        ("import crossply.functions.local_process", "is not there for scripts"),
        ("import crossplane.function", "No module named 'crossplane.function'"),
        ("__import__('os')", "module 'os' is not there"),
        ("import json\njson.codecs.open('/etc/passwd')", "scripts have no access to files (open)"),
        (
            "BaseComposite.compose.__globals__['__builtins__']['open']('/etc/passwd')",
            "no access to files (open)",
        ),
        (SYS + "sys.modules['os'].listdir('/')", "no access to the operating system (os.listdir)"),
        (SYS + "sys.modules['os'].system('id')", "no access to the operating system (os.system)"),
        (SYS + "sys.modules['os'].kill(1, 9)", "no access to the operating system (os.kill)"),
        (SYS + "sys.modules['builtins'].__import__('socket').socket()", "Compose exception: "),
    ],
)
def test_tpl_escape_files_network_and_processes_are_refused_to_composites(body: str, problem: str) -> None:
    assert problem in fatal_message(composed(body))


@pytest.mark.parametrize(
    ("body", "problem", "reason"),
    [
        ("x = 'a' * (1 << 40)", "takes more than 256 MiB of memory (composite:3, in compose)", "a huge text"),
        ("while True: self.status.x[append] = 'x' * 10000", "takes more than 256 MiB", "growing"),
        ("def f(n): return f(n + 1)\nf(0)", "maximum recursion depth exceeded", "recursion"),
        ("self.status.a.b = self.status", "maximum recursion depth exceeded", "what holds itself"),
        ("self.status.x[10**9] = 1", "list index 1000000000 is far behind the end", "an index far away"),
        (
            "for i in range(17): self.status.a[i] = 'x' * (1 << 20)",
            "answer is longer than 16 MiB",
            "a long answer",
        ),
        (
            "x = self.status\nfor _ in range(10**5): x = x.a\nx.b = 1",
            "maximum recursion depth",
            "a deep place",
        ),
        ("v = Map()\nfor _ in range(500): v = Map(a=v)\nself.status.v = v", "ecursion", "deep data"),
        ("Json('[' * 10**6)", "while decoding a JSON array", "JSON without end"),
        ("Yaml('&a [' * 10**4)", "Compose exception: ", "YAML without end"),
        ("self.status.x = float('inf')", "a number must be finite", "infinity"),
        ("self.status.x = 10**400", "int too large to convert to float", "a huge number"),
        ("self.status.x = '\\ud800'", "surrogates", "half a character"),
        ("raise SystemExit(3)", "Compose exception: 3 (composite:3, in compose)", "an exit"),
        ("import asyncio\nself.x = asyncio.Event()", "", "nothing that is wrong"),
    ],
)
def test_starlark_loop_a_bomb_in_a_composite_fails_with_its_place(
    body: str, problem: str, reason: str
) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.monotonic()
    answer = composed(body)
    assert time.monotonic() - start < GENEROUS
    if problem:
        assert problem in fatal_message(answer), reason
    else:
        assert answer.results == ()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


WAITING = """
import asyncio
class A(BaseComposite):
  async def compose(self):
    await asyncio.Event().wait()
"""


def test_programs_and_packages_have_a_size() -> None:
    assert "composite is longer than 2 MiB" in fatal_message(composed("#" * (3 << 20)))
    packages = {"big.py": "#" * (3 << 20)}
    assert "composite is longer than 2 MiB" in fatal_message(composed("pass", packages=packages))


@pytest.mark.parametrize(
    ("composite", "problem"),
    [
        (5.0, 'Missing composition input "composite"'),
        ("class A(BaseComposite:\n  pass\n", "Exec exception: invalid syntax (composite:1)"),
        ("x = '\x00'\n", "Exec exception: source code string cannot contain null bytes"),
        ("x = '\ud800'\n", "cannot run composite"),
        ("(" * 5000 + "\n", "Exec exception: too many nested parentheses (composite:1)"),
        ("x = " + "-" * 100_000 + "1\n", "Exec exception: "),
        (WAITING, "never comes"),
    ],
    ids=["a number", "syntax", "null bytes", "half a character", "parentheses", "nesting", "waiting"],
)
def test_an_invalid_composite_is_fatal(composite: object, problem: str) -> None:
    answer = run(Request(State(Resource(XR)), input={"composite": composite}, tag="t"))
    assert problem in fatal_message(answer)


def test_a_package_cannot_take_the_place_of_a_module_of_python() -> None:
    packages = {"json.py": "def dumps(x): return 'fake'\n", "os": {"__init__.py": "path = 'fake'\n"}}
    answer = composed("import json\nself.status.a = json.dumps([1])", packages=packages)
    assert answer.desired is not None
    assert answer.desired.composite is not None
    assert answer.desired.composite.object == {"status": {"a": "[1]"}}
    assert "module 'os' is not there" in fatal_message(composed("import os", packages=packages))


def test_one_composite_cannot_change_the_state_of_another() -> None:
    poison = (
        "import crossplane.pythonic.protobuf as p\np.Value.__bool__ = lambda self: True\nself.status.a = 1"
    )
    assert composed(poison).results == ()
    answer = composed("self.status.known = bool(self.spec.absent)")
    assert answer.desired is not None
    assert answer.desired.composite is not None
    assert answer.desired.composite.object == {"status": {"known": False}}


@pytest.mark.parametrize(
    "reply",
    ["b''", "b'{}'", "b'[1]'", """b'{"response": {"results": 5}, "unchanged": []}'""",
     """b'{"response": {}, "unchanged": ["other"]}'""", """b'{"response": {}, "unchanged": [[]]}'"""],
)  # fmt: skip
def test_a_reply_that_the_program_forges_is_no_response(reply: str) -> None:
    body = f"import orjson\norjson.dumps = lambda data: {reply}"
    forged = (
        f"{SYS}worker = sys.modules['crossply.functions.builtin.pythonic.worker']\n"
        "class Fake:\n  loads = worker.orjson.loads\n"
        f"  dumps = staticmethod(lambda data: {reply})\nworker.orjson = Fake"
    )
    assert "is not there" in fatal_message(composed(body))
    assert "composite does not give a RunFunctionResponse" in fatal_message(composed(forged))
