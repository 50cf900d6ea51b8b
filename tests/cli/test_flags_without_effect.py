"""A flag accepted only for compatibility with Crossplane prints a warning when it is used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crossply.cli import command_registry
from crossply.cli.framework.command import Flag
from tests.support.cli.render_bench import FILES, Bench

SOURCE = Path(command_registry.__file__).parent
FLAGS = [
    (entry.path, flag) for entry in command_registry.COMMANDS for flag in command_registry.load(entry).flags
]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def is_read(flag: Flag, text: str) -> bool:
    """Whether code reads the value of a flag by its name, or by a constant with that name."""
    constants = re.findall(rf"""^(_[A-Z]+) = ["']{re.escape(flag.name)}["']""", text, re.MULTILINE)
    if any(f"invocation[{constant}]" in text for constant in constants):
        return True
    return (
        re.search(rf"""(?:\[|given\(|\(\w+, |_positive\(\w+, )["']{re.escape(flag.name)}["']""", text)
        is not None
    )


def test_every_unread_flag_prints_a_warning() -> None:
    text = "\n".join(path.read_text() for path in sorted(SOURCE.rglob("*.py")))
    silent = {flag.name for _, flag in FLAGS if not flag.no_effect and not is_read(flag, text)}
    assert silent == set()


def test_the_help_of_every_such_flag_mentions_it() -> None:
    without = [(path, flag) for path, flag in FLAGS if flag.no_effect]
    assert without, "there are some"
    assert [f"{path} --{flag.name}" for path, flag in without if not flag.help.startswith("No effect")] == []


def test_every_flag_prints_one_warning_and_the_output_stays_the_same(bench: Bench) -> None:
    words = ("--crossplane-version=v2.3.4", "--crossplane-docker-network=x", "--max-concurrency=3")
    done = bench.run(*FILES, *words)
    assert (done.returncode, done.stdout) == (0, bench.run(*FILES).stdout)
    assert done.stderr.decode().splitlines() == [
        "crossply: warning: --max-concurrency has no effect: no package is built or fetched into a cache",
        "crossply: warning: --crossplane-version has no effect: Crossply is the engine",
        "crossply: warning: --crossplane-docker-network has no effect: Crossply is the engine",
    ]


@pytest.mark.parametrize("words", [(), ("--timeout=1m",)])
def test_without_such_a_flag_nothing_is_printed(bench: Bench, words: tuple[str, ...]) -> None:
    assert bench.run(*FILES, *words).stderr == b""
