"""`crossply explain CP-207`: the pages of errors, offline."""

from __future__ import annotations

import json

import pytest

from crossply.cli.main import main


def explain(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["explain", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("spelling", ["CP-207", "cp-207", "CP207", "207"])
def test_the_page_of_an_error_is_printed(capsys: pytest.CaptureFixture[str], spelling: str) -> None:
    code, out, _ = explain(capsys, spelling)
    assert code == 0
    assert out.startswith("CP-207  Composing\n\nA function returned a fatal result.\n\nTry: ")


def test_a_page_is_an_object_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    page = json.loads(explain(capsys, "CP-207", "-o", "json")[1])
    assert (page["code"], page["text"]) == ("CP-207", ["A function returned a fatal result."])


@pytest.mark.parametrize(("code", "nearest"), [("CP-206", "CP-207: A function returned"), ("CP-x", "CP-1")])
def test_the_nearest_codes_are_named_for_one_that_does_not_exist(
    capsys: pytest.CaptureFixture[str], code: str, nearest: str
) -> None:
    status, _, err = explain(capsys, code)
    assert status == 1
    assert err.splitlines()[-1] == f"crossply: error: there is no error {code.upper()}"
    assert nearest in err


def test_a_kind_without_a_name_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = explain(capsys, "website")
    assert status == 80
    assert err.endswith("name a resource as TYPE/NAME, or an error as CP-207\n")
