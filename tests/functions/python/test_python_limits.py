"""Scripts in Python that reach out, fill the memory or nest without end."""

from __future__ import annotations

import resource
import time

import pytest

from crossply.compose.function_messages import SEVERITY_FATAL, Request, Resource, State
from crossply.functions.builtin.python.function import run

GENEROUS = 20.0
"""How long the machine may take for what should take a second."""


def fatal_message(body: str) -> str:
    start = time.monotonic()
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    script = f"def compose(req, rsp):\n{lines}"
    answer = run(Request(State(Resource({})), input={"script": script}, tag="t"))
    assert time.monotonic() - start < GENEROUS
    assert [result.severity for result in answer.results] == [SEVERITY_FATAL]
    return answer.results[0].message


SYS = "import json\nsys = json.codecs.sys\n"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("open('/etc/passwd')", "script:2, in compose: NameError: name 'open' is not defined"),
        ("import os", "script:2, in compose: ImportError: module 'os' is not there for scripts"),
        ("import ssl", "(docs/reference/functions/python.md lists those that are; "),
        ("import ssl", "--function-runtime container"),
        ("import sys", "ImportError"),
        ("import socket", "ImportError"),
        ("import subprocess", "ImportError"),
        ("import ctypes", "ImportError"),
        ("import importlib", "ImportError"),
        ("from os import environ", "ImportError"),
        ("import crossply.functions.local_process", "ImportError"),
        ("from crossplane.function import runtime", "script:2, in compose"),
        ("__import__('os')", "ImportError"),
        ("import json\njson.codecs.open('/etc/passwd')", "scripts have no access to files (open)"),
        (SYS + "sys.modules['os'].listdir('/')", "no access to the operating system (os.listdir)"),
        (SYS + "sys.modules['os'].system('id')", "no access to the operating system (os.system)"),
        (SYS + "sys.modules['os'].fork()", "no access to the operating system (os.fork)"),
        (SYS + "sys.modules['posix'].open('/etc/passwd', 0)", "no access to files (open)"),
        (SYS + "sys.modules['os'].kill(1, 9)", "no access to the operating system (os.kill)"),
        (
            SYS + "__import__ = sys.modules['builtins'].__import__\n__import__('socket').socket()",
            "in compose: ",
        ),
        (SYS + "sys.modules['ctypes'].CDLL(None)", "in compose: "),
        (
            "known = ().__class__.__base__.__subclasses__()\n"
            "[c for c in known if c.__name__ == '_wrap_close'][0].__init__.__globals__['system']('id')",
            "no access to the operating system (os.system)",
        ),
    ],
)
def test_tpl_escape_files_network_and_processes_are_refused_with_a_message(body: str, problem: str) -> None:
    assert problem in fatal_message(body)


@pytest.mark.parametrize(
    ("body", "problem", "reason"),
    [
        ("x = 'a' * (1 << 40)", "script:2, in compose: takes more than 256 MiB of memory", "a huge text"),
        ("x = [0] * (1 << 35)", "script:2, in compose: takes more than 256 MiB", "a huge list"),
        ("x = 1 << 1000000000000", "script:2, in compose: takes more than 256 MiB", "a huge shift"),
        ("x = []\nwhile True: x.append('x' * 10000)", "script:3, in compose: takes more than 256", "growing"),
        ("def f(n): return f(n + 1)\nf(0)", "script:2, in f: RecursionError", "recursion"),
        ("x = []\nfor _ in range(10**6): x = [x]\nstr(x)", "script:4, in compose: RecursionError", "nesting"),
        ("rsp.context['a'] = 'x' * (20 << 20)", "answer is longer than 16 MiB", "a long answer"),
        ("import json\njson.loads('[' * 10**6)", "script:3, in compose: RecursionError", "JSON without end"),
        (
            "s = {}\nfor _ in range(10**4): s = {'a': s}\nrsp.context['a'] = s",
            "script:4, in compose",
            "deep data",
        ),
    ],
)
def test_starlark_loop_a_bomb_in_python_fails_with_its_place(body: str, problem: str, reason: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert problem in fatal_message(body), reason
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


def test_one_script_cannot_change_the_state_of_another() -> None:
    poison = SYS + "sys.modules['json'].dumps = None\nrsp.output['a'] = 1"
    lines = "".join(f"    {line}\n" for line in poison.splitlines())
    first = run(Request(State(), input={"script": f"def compose(req, rsp):\n{lines}"}, tag="t"))
    assert first.results == ()
    other = "import json\ndef compose(req, rsp):\n    rsp.output['n'] = len(json.dumps([1]))\n"
    assert run(Request(State(), input={"script": other}, tag="t")).output == {"n": 3.0}
