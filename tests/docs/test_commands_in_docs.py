"""Every `crossply` command line and flag that is written down is one that the program accepts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.docs.command_lines import (
    FLAGS,
    crossply_commands,
    flags_of,
    is_group,
    mentioned_command,
    problem_of,
    shell_lines,
)
from tests.support.docs.pages import Page, Section, pages

PAGES = pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
GENERATED = ("docs/reference/cli.md",)
"""Pages that are generated from the flags themselves."""
TOP_LEVEL = {path.split(" ", maxsplit=1)[0] for path in FLAGS}


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory that relative paths of command lines are looked for in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@PAGES
def test_every_command_in_a_block_of_code_is_accepted(page: Page, scratch: Path) -> None:
    problems = []
    for block in page.blocks:
        for offset, line in shell_lines(block.language, block.text):
            for words in crossply_commands(line):
                problem = problem_of(words, scratch, whole=True)
                if problem:
                    problems.append(f"{page.name}:{block.line + offset}: {' '.join(words)}: {problem}")
    assert not problems, "\n".join(problems)


@PAGES
def test_every_command_in_a_sentence_is_accepted(page: Page, scratch: Path) -> None:
    problems = []
    for line, words in _commands_in_sentences(page):
        problem = problem_of(words, scratch, whole=False)
        if problem:
            problems.append(f"{page.name}:{line}: {' '.join(words)}: {problem}")
    assert not problems, "\n".join(problems)


def test_render_takes_the_resource_first_and_the_composition_second() -> None:
    """Both are files, so the parser accepts them in any order; only the file names show which is which."""
    problems, render_commands = [], 0
    for page in pages():
        for block in page.blocks:
            for offset, line in shell_lines(block.language, block.text):
                for words in crossply_commands(line):
                    files = [word for word in words if word.endswith(".yaml") and "=" not in word]
                    if words[:1] == ["render"] or words[:2] == ["composition", "render"]:
                        render_commands += 1
                        first, second = (os.path.basename(file) for file in files[:2])
                        if "composition" in first or second.startswith("xr"):
                            problems.append(f"{page.name}:{block.line + offset}: {line}")
    assert render_commands > 10, "pages show how to render"
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    "page", [page for page in pages() if page.name not in GENERATED], ids=lambda page: page.name
)
def test_every_flag_in_a_sentence_belongs_to_a_command_of_its_page(page: Page, scratch: Path) -> None:
    of_page = {path for section in page.sections for path in _mentioned(section)}
    if not page.name.startswith(("docs/how-to/", "docs/tutorial/", "examples/")):
        of_page = set(FLAGS)  # these pages speak of the whole program
    problems = []
    for section in page.sections:
        for span in section.spans:
            if re.match(r"--?[a-zA-Z]", span.text) and span.text not in OF_OTHER_PROGRAMS:
                problem = _problem_of_flag(span.text.split(), of_page or set(FLAGS), scratch)
                if problem:
                    problems.append(f"{page.name}:{span.line}: `{span.text}`: {problem}")
    assert not problems, "\n".join(problems)


def _problem_of_flag(words: list[str], commands: set[str], scratch: Path) -> str | None:
    """None where one of the commands takes the flag with the value that is written beside it."""
    name = words[0].partition("=")[0]
    takers = [path for path in sorted(commands) if name in flags_of(path)]
    if not takers:
        elsewhere = [path for path in FLAGS if name in flags_of(path)]
        return f"no command of this page has it (but: {elsewhere})"
    alone = len(words) == 1 and "=" not in words[0]
    problem = None
    for path in takers:
        if alone or words[1:2] == ["…"]:
            return None
        problem = problem_of([*path.split(), *words], scratch, whole=False)
        if problem is None:
            return None
    return problem


def _commands_in_sentences(page: Page) -> Iterator[tuple[int, list[str]]]:
    for span in page.spans:
        words = span.text.split()
        if words[0] == "crossply" and len(words) > 1:
            for command in crossply_commands(span.text):
                yield span.line, command
        elif words[0] in TOP_LEVEL and any(word.startswith("--") for word in words):
            yield span.line, words


def _mentioned(section: Section) -> Iterator[str]:
    """The commands that a section speaks of; of a group, all in it."""
    lines = [span.text for span in section.spans] + [section.heading.replace("`", "")]
    lines += [line for block in section.blocks for _, line in shell_lines(block.language, block.text)]
    for line in lines:
        words = line.split()
        called = list(crossply_commands(line)) if "crossply" in line else [words]
        for command in called:
            path = mentioned_command(command)
            if path:
                yield path
            names = [word for word in command if not word.startswith("-")]
            if names and is_group(names):
                yield from (flag for flag in FLAGS if flag.startswith(" ".join(names) + " "))


OF_OTHER_PROGRAMS = {
    "-edit": "the end of a role's name",
    "-view": "the end of a role's name",
    "-browse": "the end of a role's name",
    "-ovalue": "shows how a value may be written",
    "--flag=no": "shows how a value may be written",
    "--build-arg BASE=…": "of podman and docker",
    "--network unix --address {socket}": "of functions written in Go",
    "--dry-run=server": "of kubectl",
}
"""Spans of code that look like flags of ours, and what they are."""
