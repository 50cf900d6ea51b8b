"""`crossply functions`: what is built in, what it replaces, and how far the two were compared."""

from __future__ import annotations

import json

import pytest

from crossply.cli.main import main
from crossply.functions import builtin
from crossply.functions.builtin.catalogue import CATALOGUE


def test_every_built_in_function_has_a_line_with_its_published_version(capsys) -> None:
    assert main(["functions"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split("  ")[0] == "NAME"
    for function, line in zip(CATALOGUE, lines, strict=True):
        assert line.startswith(function.name)
        assert {function.version, *function.repositories} <= set(line.replace(",", " ").split())
        assert line.endswith(function.comparison)


def test_json_has_the_same_functions(capsys) -> None:
    assert main(["functions", "-o", "json"]) == 0
    functions = json.loads(capsys.readouterr().out)
    assert [function["name"] for function in functions] == list(builtin.PUBLISHED)
    assert all(builtin.for_package(function["package"]) == function["name"] for function in functions)


@pytest.mark.parametrize("function", CATALOGUE, ids=lambda function: function.name)
def test_a_function_of_the_catalogue_can_be_loaded_by_any_of_its_repositories(function) -> None:
    assert callable(builtin.load(function.name))
    assert function.version.startswith("v")
    for repository in function.repositories:
        assert builtin.for_package(f"registry.example.org/{repository}:v9") == function.name
