"""function-shell: what is decided before a command runs, and that none runs unless it is allowed."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from crossply.compose.function_messages import (
    SEVERITY_FATAL,
    TARGET_COMPOSITE,
    Request,
    Resource,
    Response,
    State,
)
from crossply.functions.builtin.shell.access import (
    IMAGE_VARIABLE,
    NETWORK_VARIABLE,
    ShellAccess,
    shell_access,
)
from crossply.functions.builtin.shell.function import VariableError, environment, run
from tests.support.function_servers import CROSSPLY

XR = {
    "apiVersion": "example.org/v1",
    "kind": "XShell",
    "metadata": {"name": "mine"},
    "spec": {
        "greeting": "hello",
        "port": 5432.0,
        "large": 12000000.0,
        "share": 0.25,
        "on": True,
        "nothing": None,
        "tags": {"b": "2", "a": "1"},
        "zones": ["x", "y"],
        "command": "echo from the XR",
    },
}
CONTEXT = {"example.org/env": {"stage": "test", "list": [{"name": "first"}]}, "plain": "text"}


@pytest.fixture(autouse=True)
def nothing_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(IMAGE_VARIABLE, raising=False)


def request_with(**parameters: Any) -> Request:
    return Request(State(Resource(XR)), input=parameters, context=CONTEXT, tag="t")


def fatal_message(response: Response) -> str:
    assert [(result.severity, result.target) for result in response.results] == [
        (SEVERITY_FATAL, TARGET_COMPOSITE)
    ]
    return response.results[0].message


def variables(*entries: dict[str, Any], **environ: str) -> dict[str, str]:
    return environment(request_with(), {"shellEnvVars": list(entries)}, environ)


def reference(**fields: Any) -> dict[str, str]:
    return variables({"key": "V", "fieldRef": fields})


def test_no_command_runs_unless_the_operator_allows_it() -> None:
    message = fatal_message(run(request_with(shellCommand="echo hello")))
    assert message.startswith("cannot run shellCommand: commands are not run here unless the operator")
    assert "--allow-shell-function=IMAGE" in message
    assert "crossply.dev/runtime: container" in message


def test_an_image_enables_commands() -> None:
    assert shell_access({}) is None
    assert shell_access({IMAGE_VARIABLE: "", NETWORK_VARIABLE: "true"}) is None
    assert shell_access({IMAGE_VARIABLE: "i"}) == ShellAccess("i", has_network=False)
    assert shell_access({IMAGE_VARIABLE: "i", NETWORK_VARIABLE: "true"}) == ShellAccess("i", has_network=True)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {},
            "invalid Function input: parameters: Required value: one of ShellCommand or ShellCommandField "
            "is required",
        ),
        (
            {"shellCommand": ""},
            "invalid Function input: parameters: Required value: one of ShellCommand or ShellCommandField "
            "is required",
        ),
        (
            {"shellCommand": "a", "shellCommandField": "spec.command"},
            "invalid Function input: parameters: Required value: exactly one of ShellCommand or "
            "ShellCommandField is required",
        ),
        (
            {"shellCommand": "a", "cacheTTL": "5x"},
            'cannot set cacheTTL: time: unknown unit "x" in duration "5x"',
        ),
        (
            {"shellCommandField": "spec.absent"},
            "cannot process contents of shellCommandField spec.absent: spec.absent: no such field",
        ),
        (
            {"shellCommandField": "spec.port"},
            "cannot process contents of shellCommandField spec.port: spec.port: not a string",
        ),
        (
            {"shellCommand": "a", "command": "b"},
            "cannot get Function from input: cannot get function input *v1alpha1.Parameters from "
            "*v1.RunFunctionRequest: cannot unmarshal JSON from *structpb.Struct into *v1alpha1.Parameters: "
            'json: cannot unmarshal Go value of type v1alpha1.Parameters: unknown name "command"',
        ),
        (
            {"shellCommand": "a", "shellEnvVars": [{"key": "V", "value": "x", "type": "Odd"}]},
            "shellEnvVars: unknown type Odd for key V",
        ),
        ({"shellCommand": "a", "shellEnvVars": [{"key": "V"}]}, "shellEnvVars: unknown type  for key V"),
        (
            {"shellCommand": "a", "shellEnvVars": [{"key": "V", "fieldRef": {"policy": "Optional"}}]},
            "cannot process contents of fieldRef : path must be set",
        ),
        (
            {"shellCommand": "a", "shellEnvVars": [{"key": "a-b", "value": "x"}]},
            'shellEnvVars: "a-b" is not the name of a variable',
        ),
        (
            {"shellCommand": "a", "shellEnvVarsRef": {"name": "HOME", "keys": ["a"]}},
            "cannot process contents of shellEnvVarsRef HOME: the environment variable "
            "CROSSPLY_SHELL_ENV_HOME is not set where the function runs",
        ),
    ],
)
def test_invalid_parameters_are_reported(parameters: dict[str, Any], message: str) -> None:
    assert fatal_message(run(request_with(**parameters))) == message


def test_the_ttl_of_the_cache_is_that_of_the_response() -> None:
    assert run(request_with(shellCommand="a", cacheTTL="4h30m")).ttl == 16_200 * 10**9
    assert run(request_with(shellCommand="a")).ttl == 60 * 10**9


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ({"value": "fixed"}, "fixed"),
        ({"value": '$HOME "quoted" `id`'}, '$HOME "quoted" `id`'),
        ({"value": "", "type": "Value"}, ""),
        ({"valueRef": "spec.greeting"}, "hello"),
        ({"valueRef": "spec.port"}, "5432"),
        ({"valueRef": "spec.large"}, "1.2e+07"),
        ({"valueRef": "spec.share"}, "0.25"),
        ({"valueRef": "spec.on"}, "true"),
        ({"valueRef": "spec.nothing"}, "<nil>"),
        ({"valueRef": "spec.tags"}, "map[a:1 b:2]"),
        ({"valueRef": "spec.zones"}, "[x y]"),
        ({"valueRef": "spec.zones[1]"}, "y"),
        ({"valueRef": "context[example.org/env].stage"}, "test"),
        ({"valueRef": "context[example.org/env].list[0].name"}, "first"),
        ({"valueRef": "context[absent].stage"}, ""),
        ({"fieldRef": {"path": "spec.greeting"}}, "hello"),
        ({"fieldRef": {"path": "spec.greeting", "policy": "Required"}, "type": "FieldRef"}, "hello"),
        ({"fieldRef": {"path": "spec.absent", "policy": "Optional", "defaultValue": "d"}}, "d"),
        ({"fieldRef": {"path": "spec.absent", "policy": "Optional"}}, ""),
        (
            {"fieldRef": {"path": "context[example.org/env].no", "policy": "Optional", "defaultValue": "d"}},
            "d",
        ),
        ({"fieldRef": {"path": "context[absent].no", "defaultValue": "d"}}, "d"),
        ({"value": "wins", "valueRef": "spec.greeting", "fieldRef": {"path": "spec.greeting"}}, "wins"),
        ({"value": "loses", "valueRef": "spec.greeting", "type": "ValueRef"}, "hello"),
    ],
)
def test_variables_have_values_of_their_own_or_of_fields(entry: dict[str, Any], value: str) -> None:
    assert variables({"key": "V", **entry}) == {"V": value}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            {"valueRef": "spec.absent"},
            "cannot process contents of valueRef spec.absent: cannot get observed composite value: "
            "spec.absent: no such field",
        ),
        (
            {"fieldRef": {"path": "spec.absent"}},
            "cannot process contents of fieldRef : cannot get observed composite value: "
            "spec.absent: no such field",
        ),
        (
            {"valueRef": "context[example.org/env].no"},
            "cannot process contents of valueRef context[example.org/env].no: cannot get context value: "
            "no: no such field",
        ),
        (
            {"valueRef": "context[plain].no"},
            "cannot process contents of valueRef context[plain].no: cannot get context value: "
            "no: no such field",
        ),
        ({"value": "a\0b"}, "shellEnvVars: the value of V has a null byte"),
    ],
)
def test_a_variable_without_a_value_is_an_error(entry: dict[str, Any], message: str) -> None:
    with pytest.raises(VariableError) as raised:
        variables({"key": "V", **entry})
    assert str(raised.value) == message


def test_secrets_come_from_variables_that_the_operator_set_for_it() -> None:
    environ = {"CROSSPLY_SHELL_ENV_CLOUD": '{"ID": "i", "KEY": "k"}', "CLOUD": '{"ID": "other"}'}
    parameters = {
        "shellEnvVars": [{"key": "ID", "value": "is replaced"}],
        "shellEnvVarsRef": {"name": "CLOUD", "keys": ["ID", "ABSENT"]},
    }
    assert environment(request_with(), parameters, environ) == {"ID": "i", "ABSENT": ""}
    without_keys = {"shellEnvVarsRef": {"name": "CLOUD"}}
    assert environment(request_with(), without_keys, environ) == {}


@pytest.mark.parametrize("text", ["", "secret", '["secret"]', '{"a": 1}', '{"a": "secret"'])
def test_a_secret_that_is_no_object_of_strings_is_not_shown(text: str) -> None:
    parameters = {"shellEnvVarsRef": {"name": "S", "keys": ["a"]}}
    with pytest.raises(VariableError) as raised:
        environment(request_with(), parameters, {"CROSSPLY_SHELL_ENV_S": text})
    assert str(raised.value) == (
        "cannot process contents of shellEnvVarsRef S: the environment variable CROSSPLY_SHELL_ENV_S is not "
        "a JSON object of strings"
    )


COMPOSITION = """
apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata: {name: shells}
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: XShell}
  mode: Pipeline
  pipeline:
  - step: shell
    functionRef: {name: function-shell}
    input: {apiVersion: shell.fn.crossplane.io/v1alpha1, kind: Parameters, shellCommand: echo hello}
"""
COMPOSITE = "{apiVersion: example.org/v1, kind: XShell, metadata: {name: mine}}\n"
FUNCTION = """
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: function-shell}
spec: {package: xpkg.crossplane.io/crossplane-contrib/function-shell:v0.6.0}
"""


def test_render_gives_a_hint_to_allow_commands(tmp_path: Path) -> None:
    for name, text in (("xr", COMPOSITE), ("composition", COMPOSITION), ("functions", FUNCTION)):
        (tmp_path / f"{name}.yaml").write_text(text)
    command = [CROSSPLY, "render", "xr.yaml", "composition.yaml", "functions.yaml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert 'pipeline step "shell" returned a fatal result: cannot run shellCommand' in done.stderr
    assert "--allow-shell-function=IMAGE" in done.stderr
