"""Completion: what may come next, asked for through a real shell."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from crossply.cli.completion.complete import candidates
from crossply.cli.completion.script import SCRIPTS
from crossply.cli.main import main
from tests.support.programs import path_of

ROWS = [
    (["comp"], ["composition", "completions"], "commands at the top"),
    (["config", ""], ["set", "view"], "commands of a group"),
    (["config", "view", ""], [], "files where an argument may be"),
    (["version", "--c"], ["--config", "--color", "--client"], "flags of the command and of the program"),
    (["version", "--config", ""], [], "files for the value of a flag"),
    (["--config", "x", "conf"], ["config"], "a flag's value is no command"),
    (["completions", ""], ["bash", "zsh", "fish"], "what an argument may be"),
    (["completion", "b"], ["bash"], "the same under the command's other name"),
    (["completions", "bash", ""], [], "an argument is completed once"),
    (["nonsense", "x"], [], "nothing after a word that is no command"),
    (["config", "view", "--", "-"], [], "no flags after --"),
    (["rend"], ["render"], "the short name of a command of a group"),
    (["in"], [], "hidden groups are not offered"),
]


@pytest.mark.parametrize(("words", "expected", "why"), ROWS, ids=[row[2] for row in ROWS])
def test_what_may_come_next(words: list[str], expected: list[str], why: str) -> None:
    assert candidates(words, frozenset()) == expected, why


def test_concealed_commands_are_not_offered() -> None:
    assert "xrd" in candidates([""], frozenset())
    assert "xrd" not in candidates([""], frozenset({"beta"}))


@pytest.fixture
def program(tmp_path):
    """A folder with a program `crossply` to put on the shell's path."""
    script = tmp_path / "crossply"
    script.write_text(f"#!{sys.executable}\nfrom crossply.cli.main import entry\nentry()\n")
    script.chmod(0o755)
    return tmp_path


BASH = """
source <(crossply completions bash)
complete -p crossply
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _crossply; echo "${COMPREPLY[*]}"; }
ask crossply comp
ask crossply config ''
ask crossply version --cl
"""


def test_bash_completes_with_the_printed_script(program) -> None:
    done = subprocess.run(
        ["bash", "-c", BASH],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{program}:{os.environ['PATH']}"},
        timeout=60,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "complete -o default -F _crossply crossply",
        "composition completions",
        "set view",
        "--client",
    ]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_accepts_the_syntax_of_its_script(shell: str) -> None:
    words = [path_of(shell), "-n"]
    done = subprocess.run(words, input=SCRIPTS[shell], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("login", "first"), [("/bin/zsh", "#compdef"), ("/bin/csh", "_crossply"), ("", "_crossply")]
)
def test_the_login_shell_decides_when_none_is_named(login: str, first: str, monkeypatch, capsys) -> None:
    monkeypatch.setenv("SHELL", login)
    assert main(["completions"]) == 0
    assert capsys.readouterr().out.startswith(first)


def test_a_shell_without_a_script_is_refused(capsys) -> None:
    assert main(["completions", "tcsh"]) == 80
    expected = 'crossply: error: [<shell>] must be one of "bash","zsh","fish" but got "tcsh"\n'
    assert capsys.readouterr().err.endswith(expected)


def test_completions_can_be_removed(capsys) -> None:
    assert main(["completions", "bash", "--uninstall"]) == 0
    assert capsys.readouterr().out == "complete -r crossply\n"
