"""`crossply check`: text with places and hints, JSON, annotations for GitHub, and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crossply.cli.main import main
from tests.support.checking.platform import Platform
from tests.support.cli.command import Run


@pytest.fixture
def platform(crossply: Run, tmp_path: Path) -> Platform:
    """A platform repository in the working directory."""
    return Platform(tmp_path)


def test_a_repository_in_order_gets_one_line(crossply: Run, platform: Platform) -> None:
    code, output, _ = crossply("check")
    expected = "0 errors, 0 warnings in 4 files, 1 definition, 1 Composition, 1 example (1 rendering)\n"
    assert (code, output) == (0, expected)


def test_an_error_is_shown_with_file_line_code_and_hint_and_fails(crossply: Run, platform: Platform) -> None:
    platform.replace("examples/lamp.yaml", "brightness: 7", "brightness: bright")
    code, output, _ = crossply("check")
    assert code == 1
    assert output.startswith(
        "examples/lamp.yaml:8: error: Lamp desk: spec.parameters.brightness: Invalid value"
    )
    assert "[CP-555]" in output
    assert output.splitlines()[-1].startswith("1 error, 0 warnings in 4 files")


def test_the_name_of_a_file_neither_steers_a_terminal_nor_begins_a_line(
    crossply: Run, platform: Platform
) -> None:
    platform.write("examples/a\n::error::\x1b[31m.yaml", "a: [")
    _, output, _ = crossply("check")
    assert output.startswith("examples/a\\n::error::\\x1b[31m.yaml:2: error: ")


def test_a_hint_follows_its_finding(crossply: Run, platform: Platform) -> None:
    platform.replace("apis/lamps/composition.yaml", "status.address", "status.adress")
    _, output, _ = crossply("check", "apis")
    first, hint, _ = output.splitlines()
    assert first == (
        "apis/lamps/composition.yaml:33: error: the patch writes status.adress, "
        "but XLamp has no field status.adress [CP-552]"
    )
    assert hint == "    hint: did you mean status.address?"


def test_json_has_the_findings_as_fields(crossply: Run, platform: Platform) -> None:
    platform.replace("apis/lamps/composition.yaml", "status.address", "status.adress")
    code, output, _ = crossply("check", "-o", "json")
    report = json.loads(output)
    assert code == 1
    assert report["summary"] == {
        **{"errors": 1, "warnings": 0, "files": 4, "definitions": 1},
        **{"compositions": 1, "examples": 1, "rendered": 0},
    }
    assert report["findings"] == [
        {
            "level": "error",
            "file": "apis/lamps/composition.yaml",
            "line": 33,
            "message": "the patch writes status.adress, but XLamp has no field status.adress",
            "code": "CP-552",
            "hint": "did you mean status.address?",
        }
    ]


def test_annotations_are_escaped_for_github(crossply: Run, platform: Platform) -> None:
    platform.replace("examples/lamp.yaml", "brightness: 7", 'brightness: 7\n    "100%": 1')
    code, output, _ = crossply("check", "-o", "github")
    assert code == 1
    (line,) = output.splitlines()
    assert line.startswith("::error file=examples/lamp.yaml,line=9,title=crossply check CP-555::Lamp desk: ")
    assert "100%25" in line


def test_strict_fails_on_warnings(crossply: Run, platform: Platform) -> None:
    (platform.root / "upbound.yaml").unlink()
    (platform.root / "apis/lamps/definition.yaml").unlink()
    assert crossply("check")[0] == 0
    assert crossply("check", "--strict")[0] == 1


def test_without_rendering_no_function_is_run(crossply: Run, platform: Platform) -> None:
    _, output, _ = crossply("check", "--no-render")
    assert "(0 renderings)" in output


def test_a_path_that_is_not_there_is_an_error(crossply: Run) -> None:
    code, _, errors = crossply("check", "nowhere")
    assert code == 1
    assert "cannot check nowhere: no such file or directory" in errors


def test_the_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--help"]) == 0
    assert "crossply check -o github --strict" in capsys.readouterr().out
