"""Functions written for the published SDK give the same answers on the shim, byte by byte."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

from crossply.compose.wire_codec import decode_response, encode_request
from crossply.sdk import shim
from tests.support.sdk.published_requests import REQUESTS

HERE = pathlib.Path(__file__).parent
FUNCTIONS = sorted(path.stem for path in (HERE / "published").glob("*.py"))
WITH_PYDANTIC = ["models"]
SOURCES = HERE.parents[1] / "src"


def answers(python, names, *path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    requests = json.dumps({name: encode_request(request).hex() for name, request in REQUESTS.items()})
    done = subprocess.run(
        [python, str(HERE / "in_both.py"), *names],
        input=requests,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def on_the_shim():
    return answers(sys.executable, [name for name in FUNCTIONS if name not in WITH_PYDANTIC], shim.DIRECTORY)


@pytest.fixture(scope="module")
def on_the_shim_with_pydantic(sdk_python):
    """In the environment of the published SDK, which has pydantic, and less of what Crossply depends on."""
    return answers(sdk_python, WITH_PYDANTIC, shim.DIRECTORY, SOURCES)


@pytest.fixture(scope="module")
def on_the_published_sdk(sdk_python):
    return answers(sdk_python, FUNCTIONS)


def test_there_are_more_than_a_dozen_functions():
    assert len(FUNCTIONS) > 12


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_answers_the_same(name, request, on_the_published_sdk):
    fixture = "on_the_shim_with_pydantic" if name in WITH_PYDANTIC else "on_the_shim"
    crossply_answers, published_answers = request.getfixturevalue(fixture)[name], on_the_published_sdk[name]
    assert set(crossply_answers) == set(published_answers) == set(REQUESTS)
    for case in REQUESTS:
        assert readable(crossply_answers[case]) == readable(published_answers[case]), case
        assert crossply_answers[case] == published_answers[case], case


def readable(answer):
    """An answer that a failing test can show."""
    return decode_response(bytes.fromhex(answer)) if ":" not in answer else answer


def test_the_requests_make_the_functions_do_something(on_the_shim):
    """A function that fails on every request would be the same on both, and show nothing."""
    for name, cases in on_the_shim.items():
        good = [case for case, answer in cases.items() if ":" not in answer]
        assert "plain" in good, (name, cases["plain"])
        assert len(set(cases.values())) > 2, name
