"""Mistakes in the input of a script are fatal, and change nothing."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.function_messages import SEVERITY_FATAL, Request, State
from crossply.functions.builtin.starlark.function import run
from tests.support.functions.starlark import BEFORE


@pytest.mark.parametrize(
    ("function_input", "problem"),
    [
        ({}, "spec.source or spec.scriptConfigRef is required"),
        ({"spec": {"scriptConfigRef": {"name": "../x"}}}, "contains path traversal"),
        ({"spec": {"source": "x = 1", "modulePaths": ["/etc"]}}, "cannot read modules from"),
        ({"spec": {"source": "x = 1", "ociDefaultRegistry": "::"}}, "invalid default OCI registry"),
        ({"spec": {"sauce": ""}}, 'unknown name "sauce"'),
        ({"script": "x = 1"}, "main"),
        ({"script": "def main(req):\n    return 1\n"}, "main must return a dict"),
        ({"script": "def main(req):\n    return {'desierd': 1}\n"}, 'unknown field "desierd"'),
        (
            {"script": "def main(req):\n    return req['nope']\n"},
            'script.star:2:15: in main\nError: key "nope"',
        ),
        ({"script": "def main():\n    return {}\n"}, "function main accepts no arguments (1 given)"),
        ({"script": "def main(req):\n    fatal('no')\n"}, "no"),
        ({"script": "def main(req):\n    return {'results': (1, 2)}\n"}, "unsupported starlark type"),
        ({"script": "x = '\ud800'"}, "cannot run script"),
    ],
)
def test_an_input_that_cannot_be_run_is_fatal(function_input: dict[str, Any], problem: str) -> None:
    answer = run(Request(State(), BEFORE, input=function_input, tag="t"))
    assert [result.severity for result in answer.results] == [SEVERITY_FATAL]
    assert problem in answer.results[0].message
    assert answer.desired == BEFORE
