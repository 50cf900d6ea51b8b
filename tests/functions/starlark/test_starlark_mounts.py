"""function-starlark: scripts and modules in ConfigMaps and directories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crossply.compose.function_messages import (
    SEVERITY_FATAL,
    Request,
    Resource,
    ResourceSelector,
    Response,
    State,
)
from crossply.functions.builtin.kcl.module_source_policy import DIRECTORIES
from crossply.functions.builtin.starlark.function import run

KEY = "crossply.dev/starlark-scripts-app"
SELECTOR = ResourceSelector("v1", "ConfigMap", "app", None, "crossplane-system")


def answered(spec: dict[str, Any], **config_maps: dict[str, str] | None) -> Response:
    """The response, where the ConfigMaps are required already; None for one that does not exist."""
    required = {
        f"crossply.dev/starlark-scripts-{name}": () if data is None else (Resource({"data": data}),)
        for name, data in config_maps.items()
    }
    return run(Request(State(Resource({"spec": {}})), input={"spec": spec}, required_resources=required))


def status_of(response: Response) -> Any:
    assert [result.message for result in response.results if result.severity == SEVERITY_FATAL] == []
    assert response.desired is not None
    assert response.desired.composite is not None
    return response.desired.composite.object["status"]


def test_a_script_in_a_config_map_is_required_first_and_run_then() -> None:
    spec = {"scriptConfigRef": {"name": "app"}}
    first = answered(spec)
    assert first.results == ()
    assert first.requirements is not None
    assert first.requirements.resources == {KEY: SELECTOR}
    script = 'load("lib.star", "x")\nset_xr_status("x", [x, extra_resources.keys()])\n'
    script += 'require_extra_resource("more", "v1", "Secret", match_name = "s")\n'
    second = answered(spec, app={"main.star": script, "lib.star": "x = 1\n", "notes.txt": "x"})
    assert status_of(second) == {"x": [1, []]}
    assert second.requirements is not None
    assert second.requirements.resources == {KEY: SELECTOR, "more": ResourceSelector("v1", "Secret", "s")}


def test_modules_of_several_config_maps_are_resolved_in_order() -> None:
    spec = {
        "source": 'load("a.star", "a")\nload("b.star", "b")\nset_xr_status("v", [a, b])\n',
        "modulePaths": ["/scripts/app", "/scripts/more/"],
        "modules": {"b.star": "b = 'input'\n"},
    }
    response = answered(spec, app={"a.star": "a = 1\n"}, more={"a.star": "a = 2\n", "b.star": "b = 2\n"})
    assert status_of(response) == {"v": [1, "input"]}


@pytest.mark.parametrize("data", [None, {}, {"other.star": "x = 1"}])
def test_a_script_that_is_not_there_is_fatal(data: dict[str, str] | None) -> None:
    (result,) = answered({"scriptConfigRef": {"name": "app", "key": "k.star"}}, app=data).results
    assert result.severity == SEVERITY_FATAL
    assert (
        'create the ConfigMap "app" in the namespace crossplane-system with the key "k.star"'
        in result.message
    )


def test_an_error_names_the_key_of_the_script() -> None:
    spec = {"scriptConfigRef": {"name": "app", "key": "k.star"}}
    (result,) = answered(spec, app={"k.star": "x = 1 + None\n"}).results
    assert "k.star:1:7: in <toplevel>" in result.message


def test_a_directory_is_read_where_the_operator_lists_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.star").write_text("a = 1\n")
    spec = {"source": 'load("a.star", "a")\nset_xr_status("a", a)\n', "modulePaths": [str(tmp_path / "lib")]}
    (result,) = answered(spec).results
    assert f'cannot read modules from "{tmp_path}/lib"' in result.message
    monkeypatch.setenv(DIRECTORIES, str(tmp_path))
    assert status_of(answered(spec)) == {"a": 1}
