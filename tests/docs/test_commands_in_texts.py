"""Commands and flags in help texts, hints, messages and the chart are those of the program."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from crossply.cli.command_registry import COMMANDS, GROUPS, Entry, load
from crossply.scaffold.function_package import function_files
from crossply.scaffold.project import project_files
from crossply.scaffold.project_function import python_files
from tests.support.docs.command_lines import FLAGS, crossply_commands, flags_of, problem_of
from tests.support.docs.pages import ROOT
from tests.support.docs.repository import strings

KNOWN = {name for path in FLAGS for name in flags_of(path)}
TOP_LEVEL = {path.split(" ", maxsplit=1)[0] for path in FLAGS}


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.path)
def test_every_example_in_a_help_text_is_accepted(
    entry: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    problems = []
    for example in load(entry).examples:
        for line in example.split("\n"):
            for words in crossply_commands(line):
                problem = problem_of(words, tmp_path, whole=True)
                if problem:
                    problems.append(f"{line}: {problem}")
    assert not problems, "\n".join(problems)


READMES = {
    "new project": project_files("platform", "example.org", "App"),
    "new function": function_files("function-hello"),
    "function generate": python_files("greet", None, {}),
}


@pytest.mark.parametrize("command", READMES)
def test_every_command_in_a_generated_readme_is_accepted(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = READMES[command]["README.md"].splitlines()
    commands = [words for line in lines for words in crossply_commands(line.strip())]
    assert len(commands) > 2
    problems = {" ".join(words): problem_of(words, tmp_path, whole=True) for words in commands}
    assert not any(problems.values()), problems


def test_every_command_that_a_message_names_exists() -> None:
    """The words after `crossply` are a command, and the flags behind them are flags of that command."""
    problems = []
    for file, line, text in strings():
        for mention in re.finditer(r"(?<![\w/.-])crossply ([a-z][^\n`]*)", text):
            words = list(itertools.takewhile(re.compile(r"[a-z][a-z-]*").fullmatch, mention[1].split()))
            path = _command(words)
            if path is None:
                if words and words[0] in TOP_LEVEL:
                    problems.append(f"{file}:{line}: crossply {' '.join(words)}")
                continue
            flags = re.findall(r"(?<![\w-])--[a-z][a-z-]+", re.split(r"[,;]|kubectl", mention[1])[0])
            unknown = [flag for flag in flags if path in FLAGS and flag not in flags_of(path)]
            problems += [f"{file}:{line}: crossply {path} {flag}" for flag in unknown]
    assert not problems, "\n".join(problems)


def _command(words: list[str]) -> str | None:
    for count in range(len(words), 0, -1):
        path = " ".join(words[:count])
        if path in FLAGS or path in GROUPS:
            return path
    return None


def test_every_flag_that_a_message_names_exists() -> None:
    problems = []
    for file, line, text in strings():
        if len(text.split()) < 3:
            continue  # words for another program
        problems += [f"{file}:{line}: {flag}" for flag in _crossply_flags(text) if flag not in KNOWN]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    "file",
    sorted(
        path
        for part in ("chart", "manifests")
        for path in (ROOT / "deploy" / part).rglob("*")
        if path.is_file()
    ),
    ids=lambda file: str(file.relative_to(ROOT)),
)
def test_every_flag_in_the_installation_of_the_controllers_exists(file: Path) -> None:
    known = flags_of("ui" if file.stem == "dashboard" else "controller")
    assert not [flag for flag in _crossply_flags(file.read_text()) if flag not in known]


def _crossply_flags(text: str) -> list[str]:
    """The flags in a text, without those behind the name of another program."""
    own_text = re.sub(r"\b(?:kubectl|helm) (?:[^\n]*\\\n)*[^\n]*", "", text)
    flags = re.findall(r"(?<![\w-])--[a-z][a-z-]+[a-z]", own_text)
    return [flag for flag in flags if flag not in OF_OTHER_PROGRAMS]


OF_OTHER_PROGRAMS = {"--force-conflicts": "of kubectl, in the answer to its request"}
"""Flags that are not ours, where the program is not named."""
