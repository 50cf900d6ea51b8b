"""The program as its users meet it: what it prints where, and the exit code it leaves with."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from crossply.cli import command_registry
from crossply.cli import main as program
from crossply.cli.framework.command import Argument, Command
from crossply.cli.framework.failure_reports import report
from crossply.cli.main import main
from crossply.cli.version import COMMAND as VERSION
from crossply.errors import CrossplyError
from crossply.version import __version__

RUN = "import sys; from crossply.cli.main import entry; entry()"


class Spilled(CrossplyError):
    """The paint was spilled."""

    code = "CP-599"
    hint = "mop the floor"


def failing(problem: BaseException):
    def run(invocation: object) -> int:
        raise problem

    return run


def run_command(monkeypatch, run) -> int:
    monkeypatch.setattr(command_registry, "load", lambda entry: Command("version", "", run))
    monkeypatch.setattr("crossply.cli.framework.parser.load", lambda entry: Command("version", "", run))
    return main(["version"])


def test_help_goes_to_stdout_and_is_a_success(capsys) -> None:
    assert main(["--help"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("Usage: crossply <command> [flags]\n")
    assert printed.err == ""


@pytest.mark.parametrize(
    "words", [["version", "-h"], ["version", "--nope", "--help"], ["version", "x", "-h"]]
)
def test_help_is_the_answer_even_on_a_line_that_is_wrong(words: list[str], capsys) -> None:
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("Usage: crossply version [flags]\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["foo", "--help"], "unexpected argument foo"),
        (["--help", "foo"], "unexpected argument foo"),
        (["verison", "-h"], 'unexpected argument verison, did you mean "version"?'),
        (["rendr", "--help"], 'unexpected argument rendr, did you mean "render"?'),
        (["xpkg", "biuld", "--help"], 'unexpected argument biuld, did you mean "build"?'),
        (["apiserver", "bakcup", "--help"], 'unexpected argument bakcup, did you mean "backup"?'),
    ],
)
def test_there_is_no_help_for_a_command_that_does_not_exist(words: list[str], sentence: str, capsys) -> None:
    assert main(words) == 80
    printed = capsys.readouterr()
    assert (printed.out, printed.err.splitlines()[1:]) == ("", [f"crossply: error: {sentence}"])


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (
            ["version", "--nope"],
            [
                "Usage: crossply version [flags] (see crossply version --help)",
                "crossply: error: unknown flag --nope",
            ],
        ),
        (
            ["test", "--junti", "x"],
            [
                "Usage: crossply test [<path> ...] [flags] (see crossply test --help)",
                'crossply: error: unknown flag --junti, did you mean "--junit"?',
            ],
        ),
        (["frob"], ["crossply: try: crossply --help", "crossply: error: unexpected argument frob"]),
        (
            ["xpkg", "frob"],
            ["crossply: try: crossply xpkg --help", "crossply: error: unexpected argument frob"],
        ),
        (["lint"], ["crossply: try: crossply validate", "crossply: error: unexpected argument lint"]),
        (
            ["push"],
            [
                "crossply: try: crossply function push or crossply project push or crossply provider push",
                "crossply: error: unexpected argument push",
            ],
        ),
    ],
)
def test_an_error_prints_its_message_and_a_hint(words, lines, capsys) -> None:
    assert main(words) == 80
    printed = capsys.readouterr()
    assert (printed.out, printed.err.splitlines()) == ("", lines)


def test_a_missing_file_is_no_usage_error(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "xr.yaml").write_text("")
    assert main(["render", "xr.yml", "composition.yaml"]) == 80
    assert capsys.readouterr().err.splitlines() == [
        "crossply: try: xr.yaml",
        f"crossply: error: <composite-resource>: stat {tmp_path}/xr.yml: no such file or directory",
    ]
    assert main(["render", "xr.yaml", "."]) == 80
    assert (
        capsys.readouterr().err == f'crossply: error: <composition>: "{tmp_path}" exists but is a directory\n'
    )


def test_the_version_of_the_program_is_a_flag(capsys) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"crossply v{__version__}\n"
    assert main(["xpkg", "--version"]) == 80


def test_help_is_also_a_command(capsys) -> None:
    assert main(["help", "xpkg", "build"]) == 0
    assert capsys.readouterr().out.startswith("Usage: crossply xpkg build ")


def test_a_command_with_arguments_may_have_commands_below_it(monkeypatch, capsys) -> None:
    entries = (command_registry.Entry("runs", "runs", ""), command_registry.Entry("runs show", "show", ""))
    commands = {
        entry.path: Command(entry.path, "", lambda call: len(call.path), arguments=(Argument("name", ""),))
        for entry in entries
    }
    monkeypatch.setattr(command_registry, "COMMANDS", entries)
    monkeypatch.setattr("crossply.cli.framework.parser.load", lambda entry: commands[entry.path])
    assert main(["runs", "shop"]) == len("runs")
    assert main(["runs", "show", "show"]) == len("runs show")


def test_no_command_lists_the_possible_ones(capsys) -> None:
    assert main([]) == 80
    assert capsys.readouterr().err.startswith('crossply: error: expected one of "cluster", "composition", ')


def test_an_error_exits_1_with_our_additions_first_and_its_sentence_last(monkeypatch, capsys) -> None:
    assert run_command(monkeypatch, failing(Spilled("red paint", place="wall.yaml:14"))) == 1
    assert capsys.readouterr().err.splitlines() == [
        "crossply: at wall.yaml:14",
        "crossply: try: mop the floor",
        "crossply: see: crossply explain CP-599, or https://crossply.dev/reference/errors/#cp-599",
        "crossply: error: red paint",
    ]


def test_an_error_without_place_or_hint_is_one_line(capsys) -> None:
    report(CrossplyError("plain"), sys.stderr)
    assert capsys.readouterr().err == "crossply: error: plain\n"


@pytest.mark.parametrize("problem", [ValueError("odd"), RecursionError("deep"), MemoryError(), KeyError("x")])
def test_an_internal_error_shows_no_traceback_but_a_report_hint(problem, monkeypatch, capsys) -> None:
    assert run_command(monkeypatch, failing(problem)) == 1
    printed = capsys.readouterr().err
    assert "Traceback" not in printed
    assert "please report it" in printed
    assert type(problem).__name__ in printed.splitlines()[-1]


def test_the_traceback_can_be_requested(monkeypatch, capsys) -> None:
    monkeypatch.setenv("CROSSPLY_DEBUG", "1")
    assert run_command(monkeypatch, failing(ValueError("odd"))) == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_exits_130_without_output(monkeypatch, capsys) -> None:
    assert run_command(monkeypatch, failing(KeyboardInterrupt())) == program.INTERRUPTED == 130
    assert capsys.readouterr().err == ""


def test_a_reader_that_goes_away_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    child = subprocess.Popen([sys.executable, "-c", RUN, "--help"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    _, stderr = child.communicate(timeout=120)
    assert (child.returncode, stderr) == (1, b"")


def test_words_that_are_not_utf8_are_refused_in_a_sentence() -> None:
    words = [sys.executable, "-c", RUN, b"\xff\xfe\xfe\xff\xff"]
    child = subprocess.run(words, capture_output=True, env={**os.environ, "LC_ALL": "C"}, timeout=120)
    assert child.returncode == 80
    assert child.stderr.endswith(b"crossply: error: unexpected argument \xff\xfe\xfe\xff\xff\n")


def test_output_of_a_function_cannot_control_the_terminal() -> None:
    from crossply.cli.framework.failure_reports import harmless

    assert harmless("red \x1b[31m\x07 alert\nnext\tline é") == "red \\x1b[31m\\x07 alert\nnext\tline é"


HEAVY = ["argparse", "asyncio", "dataclasses", "decimal", "fractions", "grpc", "inspect", "json", "logging"]


def test_the_program_starts_without_heavy_modules() -> None:
    code = "import sys; from crossply.cli.main import main; main(['version', '--client']);"
    code += f"print([name for name in {HEAVY!r} if name in sys.modules])"
    child = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, env=source_path()
    )
    assert child.stdout.splitlines()[-1] == "[]", child.stderr


def source_path() -> dict[str, str]:
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(program.__file__))))
    return {**os.environ, "PYTHONPATH": source}


def test_every_command_of_the_tree_can_be_loaded_and_names_itself() -> None:
    for entry in command_registry.COMMANDS:
        command = command_registry.load(entry)
        assert command.summary, entry.path
        assert len({flag.name for flag in command.flags}) == len(command.flags), entry.path
        shorts = [flag.short for flag in command.flags if flag.short]
        assert len(set(shorts)) == len(shorts), entry.path


def test_a_command_is_read_from_its_own_module_only() -> None:
    entry = next(entry for entry in command_registry.COMMANDS if entry.path == "version")
    assert command_registry.load(entry) is VERSION
