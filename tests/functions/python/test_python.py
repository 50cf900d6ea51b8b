"""function-python: scripts written against the published SDK, and how their errors are reported."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest

from crossply.compose.function_messages import (
    READY_TRUE,
    SEVERITY_FATAL,
    SEVERITY_NORMAL,
    Condition,
    Request,
    Resource,
    ResourceSelector,
    Response,
    State,
)
from crossply.functions.builtin.python.function import run
from crossply.values.protobuf_struct import to_wire

XR = to_wire({"metadata": {"name": "store"}, "spec": {"count": 2, "region": "eu"}})
BEFORE = State(Resource({"status": {"old": 1.0}}), {"earlier": Resource({"kind": "Earlier"}, {}, READY_TRUE)})


def answered(script: Any, **more: Any) -> Response:
    step_input = {"apiVersion": "python.fn.crossplane.io/v1beta1", "kind": "Script", "script": script}
    observed = State(Resource(XR), {"db": Resource({"status": {"host": "h"}})})
    return run(Request(observed, BEFORE, input={**step_input, **more.pop("more_input", {})}, tag="t", **more))


def composed(body: str, **more: Any) -> Response:
    """The response of a script with this body of `compose`."""
    lines = dedent(body).strip().splitlines()
    answer = answered("def compose(req, rsp):\n" + "\n".join(f"    {line}" for line in lines), **more)
    assert answer.desired is not None
    return answer


PUBLISHED_EXAMPLE = """
from crossplane.function.proto.v1 import run_function_pb2 as fnv1

def compose(req: fnv1.RunFunctionRequest, rsp: fnv1.RunFunctionResponse):
    rsp.desired.resources["bucket"].resource.update({
        "apiVersion": "s3.aws.upbound.io/v1beta2",
        "kind": "Bucket",
        "spec": {
            "forProvider": {
                "region": req.observed.composite.resource["spec"]["region"]
            }
        },
    })
    rsp.desired.resources["bucket"].ready = True
"""


def test_the_example_of_the_published_function_runs() -> None:
    answer = answered(PUBLISHED_EXAMPLE)
    assert answer.results == ()
    assert answer.desired is not None
    assert answer.desired.resources == {
        **BEFORE.resources,
        "bucket": Resource(
            {
                "apiVersion": "s3.aws.upbound.io/v1beta2",
                "kind": "Bucket",
                "spec": {"forProvider": {"region": "eu"}},
            },
            {},
            READY_TRUE,
        ),
    }


def test_the_modules_of_the_sdk_are_there() -> None:
    answer = composed(
        """
        from crossplane.function import logging, request, resource, response
        logging.get_logger().info("nobody reads this")
        given = resource.struct_to_dict(req.input)
        resource.update(rsp.desired.resources["a"], {"kind": "A", "n": len(given)})
        response.normal(rsp, "done")
        response.require_resources(rsp, "configs", "v1", "ConfigMap", match_labels={"a": "b"})
        rsp.conditions.add(type="Told", status=2, reason="R", message="m")
        rsp.context["k"] = request.get_credentials(req, "aws").data["key"] if False else "v"
        """,
        context={"kept": 1.0},
    )
    assert [(result.severity, result.message) for result in answer.results] == [(SEVERITY_NORMAL, "done")]
    assert answer.desired is not None
    assert answer.desired.resources["a"].object == {"kind": "A", "n": 3.0}
    assert answer.requirements is not None
    assert answer.requirements.resources == {"configs": ResourceSelector("v1", "ConfigMap", None, {"a": "b"})}
    assert answer.conditions == (Condition("Told", 2, "R", "m", None),)
    assert answer.context == {"kept": 1.0, "k": "v"}


def test_scripts_see_credentials_required_resources_and_the_rest_of_their_input() -> None:
    answer = composed(
        """
        rsp.output["key"] = req.credentials["aws"].credential_data.data["key"].decode()
        rsp.output["items"] = [dict(each.resource)["n"] for each in req.required_resources["r"].items]
        rsp.output["mine"] = req.input["mine"]
        """,
        credentials={"aws": {"key": b"secret"}},
        required_resources={"r": (Resource({"n": 1.0}), Resource({"n": 2.0}))},
        more_input={"mine": "x"},
    )
    assert answer.output == {"key": "secret", "items": [1.0, 2.0], "mine": "x"}


def test_operate_and_coroutines_run_too() -> None:
    assert answered("def operate(req, rsp):\n    rsp.output['a'] = 1\n").output == {"a": 1.0}
    answer = answered(
        """
import asyncio

async def one(seconds):
    await asyncio.sleep(seconds)
    return seconds

async def compose(req, rsp):
    rsp.output["sum"] = sum(await asyncio.gather(one(0.002), one(0.001)))
"""
    )
    assert answer.output == {"sum": pytest.approx(0.003)}


def test_a_script_starts_fresh_with_every_request() -> None:
    script = "seen = []\ndef compose(req, rsp):\n    seen.append(1)\n    rsp.output['n'] = len(seen)\n"
    assert [answered(script).output for _ in range(2)] == [{"n": 1.0}, {"n": 1.0}]


@pytest.mark.parametrize(
    "statement",
    [
        "import json, math, re, datetime",
        "from datetime import datetime; assert datetime.strptime('2024', '%Y').year == 2024",
        "from urllib import parse; assert parse.quote('a b') == 'a%20b'",
        "import urllib.parse",
        "import collections.abc",
        "import hashlib; assert hashlib.sha256(b'a').hexdigest()[:4] == 'ca97'",
        "import ipaddress; assert ipaddress.ip_network('10.0.0.0/8').num_addresses == 2**24",
        "import dataclasses, enum, typing, functools, itertools",
        "import random, uuid, secrets; uuid.uuid4(); secrets.token_hex()",
        "import yaml; assert yaml.safe_load('a: 1') == {'a': 1}",
        "from google.protobuf import json_format; json_format.MessageToDict(req)",
        "assert 'é'.encode('latin-1').decode('utf-16', 'replace')",
        "import time; time.sleep(0.001); time.time()",
    ],
)
def test_modules_that_only_compute_are_there(statement: str) -> None:
    script = f"from __future__ import annotations\ndef compose(req, rsp):\n    {statement}\n"
    assert answered(script).results == ()


@pytest.mark.parametrize(
    ("body", "problem", "reason"),
    [
        ('req.observed.resources["db"].resource["nope"]', "script:2, in compose: ", "a missing key"),
        (
            "x = 1\n\nreturn x / 0",
            "script:4, in compose: ZeroDivisionError: division by zero",
            "with its line",
        ),
        ("def inner():\n    return nobody\ninner()", "script:3, in inner: NameError", "the innermost line"),
        (
            "import json\njson.loads('{')",
            "script:3, in compose: JSONDecodeError",
            "the last line of the script",
        ),
        ("raise SystemExit(3)", "script:2, in compose: SystemExit: 3", "ending the process"),
        ("raise KeyboardInterrupt", "script:2, in compose: KeyboardInterrupt", "interrupting it"),
        (
            "class E(Exception):\n    def __str__(self): raise self\nraise E",
            "in compose: E",
            "no words for it",
        ),
        ("rsp.nothing = 1", "script:2, in compose: AttributeError", "a field that there is not"),
        ("rsp.context['a'] = object()", "script:2, in compose: ", "what no Struct holds"),
        ("rsp.context['a'] = '\\ud800'", "script:2, in compose: UnicodeEncodeError", "what is no Unicode"),
        ("import asyncio\nasyncio.run(1)", "script:3, in compose: ", "a loop with sockets"),
    ],
)
def test_errors_are_fatal_and_have_their_line(body: str, problem: str, reason: str) -> None:
    answer = composed(body)
    assert [result.severity for result in answer.results] == [SEVERITY_FATAL], reason
    assert problem in answer.results[0].message, reason
    assert answer.desired == BEFORE


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (None, "missing script"),
        ("", "missing script"),
        (1.0, "missing script"),
        ("x = 1", "script must define a compose or operate function"),
        (
            "def compose(a, b): pass\ndef operate(a, b): pass",
            "script must define only one function: compose or operate",
        ),
        ("def compose(req, rsp:\n    pass", "script:1: SyntaxError: '(' was never closed"),
        ("x = 1\nraise ValueError('top')", "script:2, in <module>: ValueError: top"),
        ("def compose(): pass", "TypeError"),
        ("compose = 1", "TypeError"),
        ("async def compose(req, rsp):\n    import asyncio\n    await asyncio.Event().wait()", "never comes"),
        ("x = '\x00'", "script"),
        ("x = '\ud800'", "cannot run script"),
        ("(" * 5000, "script:1: SyntaxError"),
        ("x = " + "-" * 100_000 + "1", "nests too deep"),
        ("#" * (3 << 20), "is longer than 2 MiB"),
    ],
)
def test_an_invalid_script_is_fatal(script: Any, problem: str) -> None:
    answer = answered(script)
    assert [result.severity for result in answer.results] == [SEVERITY_FATAL]
    assert problem in answer.results[0].message
    assert answer.desired == BEFORE
