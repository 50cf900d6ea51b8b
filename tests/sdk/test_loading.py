"""Finding the function in a file, and what loading the SDK costs."""

from __future__ import annotations

import json
import sys

import pytest

from crossply.compose.function_messages import Request, Resource, State
from crossply.sdk.auto_reload import ReloadingFunction
from crossply.sdk.failures import FunctionFileError
from crossply.sdk.function_file import load, unload
from tests.support.sdk.loaded_modules import imported

ONE = """
from crossply.sdk import function

@function
def compose(req, rsp):
    rsp.normal("one")
"""
TWO = (
    ONE
    + """
@function
def other(req, rsp):
    rsp.normal("two")
"""
)
REQUEST = Request(State(Resource({"spec": {}})))


def write(directory, name, text):
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def message_of(function):
    return function.run(REQUEST).results[0].message


def test_the_only_function_of_a_file_is_loaded(tmp_path):
    assert message_of(load(write(tmp_path, "one.py", ONE)).function) == "one"
    assert message_of(load(write(tmp_path, "alias.py", f"{ONE}\nsame = compose\n")).function) == "one"


def test_one_of_several_is_named(tmp_path):
    path = write(tmp_path, "two.py", TWO)
    assert message_of(load(f"{path}:other").function) == "two"
    with pytest.raises(FunctionFileError, match="there are several functions") as problem:
        load(path)
    assert problem.value.hint == "say which: FILE:NAME, of compose, other"
    with pytest.raises(FunctionFileError, match="there is no function nobody"):
        load(f"{path}:nobody")


RUNNER = """
from crossplane.function import response
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1

class FunctionRunner(grpcv1.FunctionRunnerService):
    async def RunFunction(self, req, _):
        rsp = response.to(req)
        response.normal(rsp, "one")
        return rsp
"""
MAIN = """
from crossplane.function import runtime
from function import {imported}

def cli():
    runtime.serve(fn.FunctionRunner(), "0.0.0.0:9443", creds=None, insecure=True)
"""


def test_a_program_that_serves_the_function_of_a_file_beside_it_has_that_function(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    write(tmp_path, "function/__init__.py", "")
    runner = write(tmp_path, "function/fn.py", RUNNER)
    loaded = load(write(tmp_path, "function/main.py", MAIN.format(imported="fn")))
    assert message_of(loaded.function) == "one"
    assert runner in loaded.files
    unload(loaded)
    write(tmp_path, "function/other.py", RUNNER)
    with pytest.raises(FunctionFileError, match="there is no function in"):
        load(write(tmp_path, "function/main.py", MAIN.format(imported="fn, other")))


def test_files_beside_and_packages_around_are_imported(tmp_path):
    write(tmp_path, "beside/words.py", "WORD = 'beside'\n")
    text = "from words import WORD\n" + ONE.replace('"one"', "WORD")
    assert message_of(load(write(tmp_path, "beside/main.py", text)).function) == "beside"
    write(tmp_path, "pack/__init__.py", "")
    write(tmp_path, "pack/inner/__init__.py", "")
    write(tmp_path, "pack/inner/words.py", "WORD = 'package'\n")
    text = "from .words import WORD\nfrom pack.inner import words\n" + ONE.replace('"one"', "WORD")
    assert message_of(load(write(tmp_path, "pack/inner/fn.py", text)).function) == "package"


def test_a_file_may_have_the_name_of_a_library(tmp_path):
    assert message_of(load(write(tmp_path, "json.py", ONE)).function) == "one"
    assert json.loads("1") == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\n", "there is no function in"),
        ("\ndef broken(:\n", "bad.py:2: invalid syntax"),
        ("import nowhere_at_all\n", "bad.py:1: ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("\n\n1 / 0\n", "bad.py:3: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)\n", "bad.py:1: the function called exit(3)"),
        (
            "from crossply.sdk import function\n@function\ndef compose(req): pass\n",
            "compose takes 1 arguments instead of two",
        ),
        ("x = '\udce4'\n", "cannot load"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_reported(tmp_path, text, says):
    path = tmp_path / "bad.py"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(FunctionFileError) as problem:
        load(str(path))
    assert says in str(problem.value)
    with pytest.raises(FunctionFileError, match="there is no file"):
        load(str(tmp_path / "missing.py"))


def test_a_changed_file_is_reloaded_and_a_broken_one_is_not(tmp_path):
    lines = []
    path = write(tmp_path, "main.py", ONE)
    function = ReloadingFunction(path, log_line=lines.append)
    assert message_of(function) == "one"
    write(tmp_path, "main.py", ONE.replace('"one"', '"changed"'))
    function._next = 0.0
    assert message_of(function) == "changed"
    write(tmp_path, "main.py", "broken(")
    function._next = 0.0
    assert message_of(function) == "changed"
    assert "the function is the one of before" in lines[-1]


STANDARD = {*sys.stdlib_module_names, "crossply"}


def test_the_sdk_needs_nothing_but_python_and_little_of_that():
    assert imported("from crossply.sdk import function", root=STANDARD) == set()
    heavy = {"asyncio", "inspect", "dataclasses", "logging", "grpc", "yaml", "orjson", "hashlib", "ctypes"}
    assert not heavy & imported("from crossply.sdk import function", root=set())


def test_serving_needs_grpc_only():
    libraries = {"grpc", "cython_runtime", "typing_extensions"}
    # gRPC loads these where they are installed, as they are for our development.
    libraries |= {"google", "grpc_health", "grpc_reflection", "grpc_tools"}
    statement = (
        "from crossply.sdk import serving; from crossply.functions.server import Server, ServerSettings; "
        "Server('f', lambda d, c: d, ServerSettings('127.0.0.1:0')).stop()"
    )
    packages = {name.split(".")[0] for name in imported(statement, root=STANDARD)}
    assert {name for name in packages - libraries if not name.startswith("_")} == set()
