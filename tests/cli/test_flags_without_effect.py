"""A flag that is only accepted, because command lines of Crossplane have it, says so when it is used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crossply.cli import tree
from crossply.cli.framework.command import Flag
from tests.support.cli.render_bench import FILES, Bench

SOURCE = Path(tree.__file__).parent
FLAGS = [(entry.path, flag) for entry in tree.COMMANDS for flag in tree.load(entry).flags]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def is_read(flag: Flag, text: str) -> bool:
    """Whether code asks for the value of a flag by its name, or by a constant that holds it."""
    constants = re.findall(rf"""^(_[A-Z]+) = ["']{re.escape(flag.name)}["']""", text, re.MULTILINE)
    if any(f"invocation[{constant}]" in text for constant in constants):
        return True
    return (
        re.search(rf"""(?:\[|given\(|\(\w+, |_positive\(\w+, )["']{re.escape(flag.name)}["']""", text)
        is not None
    )


def test_every_flag_that_no_code_reads_says_that_it_has_no_effect() -> None:
    text = "\n".join(path.read_text() for path in sorted(SOURCE.rglob("*.py")))
    silent = {flag.name for _, flag in FLAGS if not flag.no_effect and not is_read(flag, text)}
    assert silent == set()


def test_the_help_of_every_such_flag_says_so() -> None:
    without = [(path, flag) for path, flag in FLAGS if flag.no_effect]
    assert without, "there are some"
    assert [f"{path} --{flag.name}" for path, flag in without if not flag.help.startswith("No effect")] == []


def test_each_prints_one_line_and_the_output_stays_as_it_is(bench: Bench) -> None:
    words = ("--crossplane-version=v2.3.4", "--crossplane-docker-network=x", "--max-concurrency=3")
    done = bench.run(*FILES, *words)
    assert (done.returncode, done.stdout) == (0, bench.run(*FILES).stdout)
    assert done.stderr.decode().splitlines() == [
        "crossply: warning: --max-concurrency has no effect: no package is built or fetched into a cache",
        "crossply: warning: --crossplane-version has no effect: Crossply is the engine",
        "crossply: warning: --crossplane-docker-network has no effect: Crossply is the engine",
    ]


@pytest.mark.parametrize("words", [(), ("--timeout=1m",)])
def test_without_such_a_flag_nothing_is_said(bench: Bench, words: tuple[str, ...]) -> None:
    assert bench.run(*FILES, *words).stderr == b""
