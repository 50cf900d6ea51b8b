"""function-shell: commands in real containers, what they print, and what holds them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from time import monotonic
from typing import Any

import pytest

from crossply.compose.function_messages import SEVERITY_FATAL, Request, Resource, Response, State
from crossply.containers.launcher_client import close_launcher
from crossply.functions.builtin.shell import container_command
from crossply.functions.builtin.shell.access import IMAGE_VARIABLE, NETWORK_VARIABLE
from crossply.functions.builtin.shell.function import run
from crossply.functions.function_set import Runners
from crossply.functions.reply_limits import Limits, reset_limits, set_limits
from crossply.rendering.available_functions import available_functions
from crossply.rendering.running_functions import caller
from crossply.runs.replay import recorded_effects, replay
from crossply.values.yaml.stream import load
from tests.support import registry as peers
from tests.support.function_servers import CROSSPLY
from tests.support.programs import needs
from tests.support.runs.in_memory_runs import InMemoryPlane
from tests.support.script_images import needs_containers, shell_image

pytestmark = needs_containers

XR = {"apiVersion": "example.org/v1", "kind": "XShell", "metadata": {"name": "mine"}, "spec": {"who": "you"}}
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
    input:
      apiVersion: shell.fn.crossplane.io/v1alpha1
      kind: Parameters
      shellEnvVars: [{key: WHO, valueRef: spec.who}]
      shellCommand: echo "hello $WHO"
"""
COMPOSITE = "{apiVersion: example.org/v1, kind: XShell, metadata: {name: mine}, spec: {who: you}}\n"
FUNCTION = """
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata: {name: function-shell}
spec: {package: xpkg.crossplane.io/crossplane-contrib/function-shell:v0.6.0}
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with peers.docker_registry(tmp_path_factory.mktemp("registry")) as address:
        peers.pushed(address, shell_image(), "shell:v1")
        yield f"{address}/shell:v1"
    close_launcher()


@pytest.fixture(autouse=True)
def allowed(image: str, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv(IMAGE_VARIABLE, image)
    monkeypatch.delenv(NETWORK_VARIABLE, raising=False)
    monkeypatch.setenv("CROSSPLY_CONTAINER_STORE", str(tmp_path_factory.getbasetemp() / "shell-images"))


def answered(command: str, desired: State | None = None, **parameters: Any) -> Response:
    return run(Request(State(Resource(XR)), desired, input={"shellCommand": command, **parameters}, tag="t"))


def printed(command: str, **parameters: Any) -> tuple[str, str]:
    """What a command that succeeds prints."""
    response = answered(command, **parameters)
    assert response.results == ()
    return output_of(response)


def output_of(response: Response) -> tuple[str, str]:
    assert response.desired is not None
    assert response.desired.composite is not None
    shell = response.desired.composite.object["status"]["atFunction"]["shell"]
    return shell["stdout"], shell["stderr"]


def fatal_message(response: Response) -> str:
    assert [result.severity for result in response.results] == [SEVERITY_FATAL]
    return response.results[0].message


def test_the_output_of_a_command_is_written_to_the_status() -> None:
    before = State(Resource({"status": {"kept": 1.0}}, {"key": b"v"}), {"a": Resource({"kind": "A"})})
    response = answered("echo hello; echo oops >&2", before)
    assert response.results == ()
    assert response.desired is not None
    assert response.desired.composite == Resource(
        {
            "apiVersion": "example.org/v1",
            "kind": "XShell",
            "status": {"kept": 1.0, "atFunction": {"shell": {"stdout": "hello", "stderr": "oops"}}},
        },
        {"key": b"v"},
    )
    assert response.desired.resources == before.resources


def test_the_output_of_a_command_is_written_to_the_named_fields() -> None:
    response = answered("echo a; echo b >&2", stdoutField="status.out[0].text", stderrField="spec.err")
    assert response.desired is not None
    assert response.desired.composite is not None
    written = response.desired.composite.object
    assert (written["status"], written["spec"]) == ({"out": [{"text": "a"}]}, {"err": "b"})
    message = fatal_message(answered("echo a", stdoutField="kind.x"))
    assert message.startswith("cannot set field kind.x to a for XShell: ")


@pytest.mark.parametrize(
    ("command", "stdout"),
    [
        ("echo one; echo two", "one\ntwo"),
        ("printf ' \\t padded \\n\\n'", "padded"),
        ("echo a | busybox sed s/a/b/ > /tmp/x && busybox cat /tmp/x", "b"),
        ("busybox date +%%Y -d @0", "1970"),
        ("busybox date +%Y -d @0", "1970"),
        ("echo $FROM_IMAGE $PATH", "yes /bin"),
        ("busybox cat /etc/marker", "of the image"),
        ("printf '\\377'", "\N{REPLACEMENT CHARACTER}"),
        ("true", ""),
    ],
)
def test_commands_are_those_of_a_shell(command: str, stdout: str) -> None:
    assert printed(command) == (stdout, "")


def test_variables_reach_the_command_as_they_are() -> None:
    value = "\"; echo injected; `id` $HOME 'x' %%"
    variables = [{"key": "A", "value": value}, {"key": "B", "valueRef": "spec.who"}]
    assert printed('echo "$A" "$B"', shellEnvVars=variables) == (f"{value} you", "")


def test_secrets_of_the_operator_reach_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROSSPLY_SHELL_ENV_CLOUD", '{"KEY": "k-1"}')
    monkeypatch.setenv("OF_THIS_PROCESS", "hidden")
    reference = {"name": "CLOUD", "keys": ["KEY"]}
    assert printed('echo "$KEY" "$OF_THIS_PROCESS"', shellEnvVarsRef=reference) == ("k-1", "")


def test_the_command_may_be_in_a_field_of_the_xr() -> None:
    xr = {**XR, "spec": {"command": "echo from the XR"}}
    request = Request(State(Resource(xr)), input={"shellCommandField": "spec.command"}, tag="t")
    assert output_of(run(request)) == ("from the XR", "")


def test_a_command_that_fails_is_fatal_and_its_output_is_there() -> None:
    response = answered("echo before; echo why >&2; exit 3")
    assert output_of(response) == ("before", "why")
    expected = 'shellCmd "echo before; echo why >&2; exit 3" for "XShell" failed with : exit status 3'
    assert fatal_message(response) == expected
    response = answered("no-such-command")
    assert "no-such-command: not found" in output_of(response)[1]
    assert fatal_message(response).endswith("failed with : exit status 127")
    assert fatal_message(answered("if")).endswith("failed with : exit status 2")


def test_every_command_has_a_container_of_its_own() -> None:
    assert printed("echo x > /tmp/left; busybox ls /tmp") == ("left", "")
    assert printed("busybox ls /tmp") == ("", "")


def test_a_container_has_nothing_of_this_machine_and_no_network() -> None:
    script = (
        "busybox hostname; busybox id -u; echo process $$;"
        "busybox ip -o link | busybox grep -vc 'lo:';"
        "busybox touch /etc/x 2>/dev/null || echo read-only;"
        "busybox wget -q -T 2 -O - http://192.0.2.1/ 2>/dev/null || echo no network"
    )
    assert printed(script)[0].split("\n") == ["shell", "2000", "process 1", "0", "read-only", "no network"]


@needs("pasta")
def test_a_network_is_there_where_it_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NETWORK_VARIABLE, "true")
    listed = printed("busybox ip -o link | busybox grep -vc 'lo:'")[0]
    assert listed == "1"


def test_endless_commands_and_oversized_output_are_stopped(
    image: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = fatal_message(answered("while :; do busybox yes; done"))
    assert "the function was ended: it wrote more than 1048576 bytes" in message
    monkeypatch.setattr(container_command, "SECONDS", 0.5)
    message = fatal_message(answered("echo started; busybox sleep 60"))
    assert message.startswith(f"cannot run shellCommand in image {image}: the function was ended")
    assert "it took longer than 0.5 s" in message


def test_the_deadline_of_the_call_holds_for_the_command() -> None:
    assert printed("echo the image is here") == ("the image is here", "")
    token = set_limits(Limits(deadline=monotonic() + 1.0))
    try:
        assert "it took longer than" in fatal_message(answered("busybox sleep 60"))
    finally:
        reset_limits(token)


def test_memory_is_bounded() -> None:
    message = fatal_message(answered("busybox tail -c 2000000000 /dev/zero"))
    assert "it exceeded its 256 MiB" in message


def test_a_long_error_output_is_truncated_to_its_end() -> None:
    command = "i=0; while [ $i -lt 9000 ]; do echo line $i >&2; i=$((i+1)); done"
    stderr = printed(command)[1]
    assert stderr.endswith("line 8999")
    assert len(stderr) <= 32 << 10


@pytest.mark.parametrize("command", ["echo " + "x" * (130 << 10), "echo a\0b"])
def test_a_command_that_the_kernel_would_refuse_is_refused(command: str) -> None:
    assert fatal_message(answered(command)).startswith("cannot run shellCommand: it")


def test_an_image_that_cannot_be_pulled_is_reported(image: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(IMAGE_VARIABLE, f"{image}-absent")
    message = fatal_message(answered("true"))
    assert message.startswith(f"cannot run shellCommand in image {image}-absent: ")


def test_render_runs_commands_where_it_is_allowed(image: str, tmp_path: Any) -> None:
    for name, text in (("xr", COMPOSITE), ("composition", COMPOSITION), ("functions", FUNCTION)):
        (tmp_path / f"{name}.yaml").write_text(text)
    command = [CROSSPLY, "render", "xr.yaml", "composition.yaml", "functions.yaml"]
    done = subprocess.run(
        [*command, f"--allow-shell-function={image}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "stdout: hello you" in done.stdout


def test_a_recorded_run_of_a_command_is_replayed() -> None:
    functions = available_functions([], ["function-shell"], None, lambda source, _: source)
    with Runners(functions) as runners:
        call = caller(runners, 60)
        world = InMemoryPlane(load(COMPOSITE), load(COMPOSITION), call).run().world
        assert "hello you" in str(recorded_effects(world))
        assert replay(world, call).effects == recorded_effects(world)
