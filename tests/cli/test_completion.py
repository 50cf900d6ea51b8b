"""Completion, run through a real shell."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points

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
    (["completions", ""], ["bash", "zsh", "fish", "powershell"], "what an argument may be"),
    (["completion", "b"], ["bash"], "the same under the command's other name"),
    (["completions", "bash", ""], [], "an argument is completed once"),
    (["nonsense", "x"], [], "nothing after a word that is no command"),
    (["config", "view", "--", "-"], [], "no flags after --"),
    (["rend"], ["render"], "the short name of a command of a group"),
    (["in"], [], "hidden groups are not offered"),
]


@pytest.mark.parametrize(("words", "expected", "why"), ROWS, ids=[row[2] for row in ROWS])
def test_candidates_for_the_next_word(words: list[str], expected: list[str], why: str) -> None:
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
def test_every_shell_accepts_the_syntax_of_its_script(shell: str) -> None:
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
    expected = 'crossply: error: [<shell>] must be one of "bash","zsh","fish","powershell" but got "tcsh"\n'
    assert capsys.readouterr().err.endswith(expected)


def test_completions_can_be_removed(capsys) -> None:
    assert main(["completions", "bash", "--uninstall"]) == 0
    assert capsys.readouterr().out == "complete -r crossply\n"


@pytest.fixture
def kubectl_plugin(tmp_path):
    """A folder with the programs that an installation has, to put on kubectl's path."""
    for name, module in (
        ("kubectl-crossply", "main"),
        ("kubectl_complete-crossply", "completion.kubectl_plugin"),
    ):
        script = tmp_path / name
        script.write_text(f"#!{sys.executable}\nfrom crossply.cli.{module} import entry\nentry()\n")
        script.chmod(0o755)
    return {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}


def test_kubectl_runs_the_program_as_its_plugin(kubectl_plugin) -> None:
    command = [path_of("kubectl"), "crossply", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, env=kubectl_plugin, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("crossply ")


def test_kubectl_completes_the_words_of_its_plugin(kubectl_plugin) -> None:
    command = [path_of("kubectl"), "__complete", "crossply", "config", ""]
    done = subprocess.run(command, capture_output=True, text=True, env=kubectl_plugin, timeout=60)
    assert done.stdout.splitlines() == ["set", "view", ":4"]


def test_the_package_installs_the_plugin_of_kubectl() -> None:
    scripts = {script.name: script.value for script in entry_points(group="console_scripts")}
    assert scripts["kubectl-crossply"] == "crossply.cli.main:entry"
    assert scripts["kubectl_complete-crossply"] == "crossply.cli.completion.kubectl_plugin:entry"
