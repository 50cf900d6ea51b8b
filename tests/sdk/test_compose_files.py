"""A file with a plain `compose(req, rsp)`, as projects of `up` have it, is a function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crossply.compose.function_messages import READY_TRUE, SEVERITY_FATAL, Request, Resource, State
from crossply.sdk.failures import FunctionFileError
from crossply.sdk.function_file import load

MAIN = """\
from crossplane.function import resource
from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from .words import greeting


def compose(req: fnv1.RunFunctionRequest, rsp: fnv1.RunFunctionResponse):
    xr = resource.struct_to_dict(req.observed.composite.resource)
    said = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"said": greeting(xr["spec"]["word"])}}
    resource.update(rsp.desired.resources["said"], said)
    rsp.desired.resources["said"].ready = True
"""
WORDS = 'def greeting(word):\n    return f"{word} there"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "words.py").write_text(WORDS)
    return tmp_path


def answer(folder: Path, **desired: Any) -> Any:
    state = State(None, {name: Resource(value) for name, value in desired.items()})
    xr = {"metadata": {"name": "x"}, "spec": {"word": "hello"}}
    return load(str(folder / "main.py")).function.run(Request(State(Resource(xr)), state))


def test_it_changes_a_response_that_has_the_desired_state(folder: Path) -> None:
    response = answer(folder, other={"apiVersion": "v1", "kind": "Secret"})
    assert set(response.desired.resources) == {"other", "said"}
    resource = response.desired.resources["said"]
    assert (resource.object["data"], resource.ready) == ({"said": "hello there"}, READY_TRUE)


@pytest.mark.parametrize(
    ("directory", "line", "message", "hint"),
    [
        ("lib", "from .lib.names import first", "No module named '.lib.names'", "put lib/names.py beside"),
        ("lib", "from .model.org.acme import v1", "named '.model'", "ln -s ../../.up/python/models"),
        ("model/org", "from .model.org.acme import v1", "named '.model.org.acme'", "dependency update-cache"),
    ],
)
def test_a_missing_neighbour_is_called_as_it_is_imported(
    folder: Path, directory: str, line: str, message: str, hint: str
) -> None:
    (folder / directory).mkdir(parents=True)
    (folder / "main.py").write_text(f"{line}\n\ndef compose(req, rsp):\n    pass\n")
    with pytest.raises(FunctionFileError) as failed:
        load(str(folder / "main.py"))
    assert (message in str(failed.value), hint in failed.value.hint) == (True, True), failed.value


def test_its_files_are_those_of_its_directory(folder: Path) -> None:
    files = load(str(folder / "main.py")).files
    assert {Path(file).name for file in files} == {"main.py", "words.py"}


def test_an_error_names_its_line(folder: Path) -> None:
    (folder / "words.py").write_text("def greeting(word):\n    raise ValueError('no words')\n")
    [result] = answer(folder).results
    assert (result.severity, result.message) == (SEVERITY_FATAL, "words.py:2: ValueError: no words")


@pytest.mark.parametrize("line", ["def compose(req): pass", "compose = 1", "def other(req, rsp): pass"])
def test_something_else_of_the_name_is_no_function(folder: Path, line: str) -> None:
    (folder / "main.py").write_text(f"{line}\n")
    with pytest.raises(FunctionFileError, match="there is no function in"):
        load(str(folder / "main.py"))


def test_models_are_made_of_what_the_request_has(folder: Path) -> None:
    pytest.importorskip("pydantic")
    (folder / "main.py").write_text(
        "import pydantic\n"
        "from crossplane.function import resource\n"
        "class Word(pydantic.BaseModel):\n    text: str\n"
        "class Spec(pydantic.BaseModel):\n    word: str\n    more: list[Word] | None = None\n"
        "class Shop(pydantic.BaseModel):\n    spec: Spec\n"
        "def compose(req, rsp):\n"
        "    spec = Shop(**req.observed.composite.resource).spec\n"
        "    said = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'data': {spec.word: spec.more[0].text}}\n"
        "    resource.update(rsp.desired.resources['said'], said)\n"
    )
    xr = {"metadata": {"name": "x"}, "spec": {"word": "hello", "more": [{"text": "there"}]}}
    response = load(str(folder / "main.py")).function.run(Request(State(Resource(xr)), State(None, {})))
    assert response.desired.resources["said"].object["data"] == {"hello": "there"}, response.results
