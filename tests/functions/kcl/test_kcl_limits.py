"""Programs in KCL that would fill the memory, nest without end, or reach out."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from crossply.extras import install_command
from crossply.functions.builtin.kcl import native
from tests.support.functions.kcl import answered, composed, fatal_of

DIED = "the program ended its process: it takes more than 256 MiB of memory, or nests too deep"


BOMBS = {
    "recursion": ("f = lambda x {\n    f(x + 1)\n}\nitems = [f(1)]", DIED),
    "a schema of itself": ("schema A:\n    a: A = A {}\nitems = [A {}]", DIED),
    "a huge list": ("x = [i for i in range(100000000)]\nitems = []", DIED),
    "a huge text": ("x = 'a' * 1000000000\nitems = []", DIED),
    "a text that is larger than any memory": ("x = 'a' * 4000000000000\nitems = []", DIED),
    "a text that doubles": ("_x = 'x' * 1000\n" + "_x = _x + _x\n" * 60 + "items = []", DIED),
    "brackets without end": (f"x = {'[' * 100_000}{']' * 100_000}", DIED),
    "parentheses without end": (f"x = {'(' * 50_000}1{')' * 50_000}", DIED),
    "signs without end": (f"x = {'-' * 100_000}1", DIED),
    "a huge number": ("x = 10 ** 1000000000\nitems = []", "prog.k:1: 0: A 64 bit integer overflow"),
    "a program of 10 MB": (f"x = '{'y' * 10_000_000}'", "the source is longer than 2 MiB"),
    "a huge answer": ("items = [{v = 'x' * 20000000}]", "answer is longer than 16 MiB"),
    "deep YAML": ("import yaml\nx = yaml.decode('[' * 100000)", "prog.k:2: recursion limit exceeded"),
    "deep JSON": ("import json\nx = json.decode('[' * 100000)", "prog.k:2: recursion limit exceeded"),
    "deep data": (
        "_x = {}\n" + "_x = {a = _x}\n" * 1500 + "items = [{v = _x}]",
        "depth limit exceeded|ended its process|nests deeper than",
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_soon_with_a_clear_message(name: str) -> None:
    source, problem = BOMBS[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    message = fatal_of(answered(source))
    assert message.startswith("failed to run kcl function pipelines: ")
    assert any(alternative in message for alternative in problem.split("|")), message
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("file.read('/etc/passwd')", "failed to access the file '/etc/passwd': Operation not permitted"),
        ("file.read('/proc/self/environ')", "Operation not permitted"),
        ("file.read_env('HOME')", "not found in 'module 'file''|None|null"),
        ("file.write('/tmp/kcl-escape', 'x')", "Failed to create file '/tmp/kcl-escape'"),
        ("file.append('/tmp/kcl-escape', 'x')", "Operation not permitted"),
        ("file.mkdir('/tmp/kcl-escape')", "Operation not permitted"),
        ("file.delete('/etc/hostname')", "failed to delete|Operation not permitted"),
        ("file.cp('/etc/passwd', '/tmp/kcl-escape')", "Operation not permitted"),
        ("file.load('/etc/passwd')", "Operation not permitted|not found"),
    ],
)
def test_files_of_the_machine_are_out_of_reach(statement: str, problem: str) -> None:
    answer = answered(f"import file\nitems = [{{metadata.name = 'f', v = {statement}}}]")
    shown = fatal_of(answer) if answer.results else str(answer.desired)
    assert any(alternative in shown for alternative in problem.split("|")), shown
    assert not Path("/tmp/kcl-escape").exists()
    assert "root:" not in shown


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("import http\nitems = [http.get('http://127.0.0.1:1')]", "pkgpath http not found"),
        (
            "import kcl_plugin.hello\nitems = [hello.add(1, 2)]",
            "the plugin package `kcl_plugin.hello` is not found",
        ),
        (
            "import kcl_plugin.os\nitems = [os.system('true')]",
            "the plugin package `kcl_plugin.os` is not found",
        ),
    ],
)
def test_there_is_neither_network_nor_plugins(source: str, problem: str) -> None:
    assert problem in fatal_of(answered(source))


def test_a_program_that_searches_for_files_gets_none() -> None:
    calls = "[file.glob('/etc/*'), file.exists('/etc'), file.workdir()]"
    source = f"import file\nitems = [{{metadata.name = 'f', v = {calls}}}]"
    assert composed(source)["f"].object["v"] == [[], False, ""]


def test_a_program_goes_on_after_another_one_died() -> None:
    assert fatal_of(answered("x = 'a' * 4000000000000\nitems = []")).endswith(DIED)
    for _ in range(3):
        assert list(composed('items = [{metadata.name = "fine"}]')) == ["fine"]


def test_many_calls_do_not_fill_the_memory_of_a_worker() -> None:
    source = 'items = [{metadata.name = "x", v = len(option("params").big)}]'
    params = {"big": ["x" * 1000] * 2000}
    for _ in range(40):
        assert composed(source, spec={"params": params})["x"].object["v"] == 2000


def test_without_the_extra_a_step_gives_a_hint_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(native, "find_spec", lambda name: None)
    native.is_installed.cache_clear()
    try:
        message = fatal_of(answered("items = []"))
    finally:
        native.is_installed.cache_clear()
    assert message.startswith("failed to run kcl function pipelines: KCL is not installed: ")
    assert f": {install_command('kcl')}, or " in message
