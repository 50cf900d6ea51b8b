"""`--function-runtime` and `functionRuntime` name every runtime that functions can be run by."""

from __future__ import annotations

import pytest

from crossply.cli.command_registry import COMMANDS, load
from crossply.functions.binding import CHOICES
from crossply.testing.suite_parser import FUNCTION_RUNTIMES

FLAGS = {
    entry.path: flag for entry in COMMANDS for flag in load(entry).flags if flag.name == "function-runtime"
}


@pytest.mark.parametrize("path", FLAGS)
def test_a_command_takes_every_runtime_of_functions(path: str) -> None:
    assert sorted(FLAGS[path].choices) == sorted(CHOICES)


def test_a_suite_takes_every_runtime_of_functions() -> None:
    assert sorted(FUNCTION_RUNTIMES) == sorted(CHOICES)
