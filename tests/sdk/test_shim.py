"""Which SDK a program gets, and the parts of the shim that answers do not show."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import threading

import pytest

from crossply.compose.function_messages import Request, Resource, State
from crossply.sdk import shim
from tests.support.sdk.loaded_modules import imported

HERE = pathlib.Path(__file__).parent
GREETER = HERE.parent / "functions" / "sdk" / "greeter.py"
SOURCES = HERE.parents[1] / "src"
REQUEST = Request(State(Resource({"spec": {"name": "you", "times": 1.0}})))
PRINT_SDK_PATH = """
import sys
from crossply.compose.function_messages import Request, Resource, State
from crossply.sdk.function_file import load
function = load(sys.argv[1], sys.argv[2]).function
answer = function.run(Request(State(Resource({"spec": {"name": "you", "times": 1.0}}))))
import crossplane.function
print(crossplane.function.__file__, answer.results[0].message)
"""


def imported_sdk(python, sdk):
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    command = [python, "-c", PRINT_SDK_PATH, str(GREETER), sdk]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stderr
    path, output = done.stdout.strip().split(" ", 1)
    assert output == "hello you"
    return "ours" if path.startswith(shim.DIRECTORY) else "published"


def test_an_installed_sdk_is_never_shadowed_by_accident(sdk_python):
    """It also serves: its messages are described once, by the first import."""
    assert imported_sdk(sdk_python, "auto") == "published"
    assert imported_sdk(sdk_python, "published") == "published"
    assert imported_sdk(sdk_python, "crossply") == "ours"


def test_without_a_published_sdk_ours_is_imported():
    assert imported_sdk(sys.executable, "auto") == "ours"


def test_importing_the_sdk_does_not_touch_the_path():
    done = subprocess.run(
        [sys.executable, "-c", "import crossply.sdk.function_file, crossplane.function"],
        capture_output=True,
        text=True,
    )
    assert "No module named 'crossplane'" in done.stderr
    assert not {name for name in imported("import crossply.sdk", root=set()) if "crossplane" in name}


LOGS = """
from crossplane.function import logging
logging.configure(logging.Level.%s)
log = logging.get_logger().bind(tag="t")
log.debug("detail", n=1)
log.info("made %%s", "it", name="b", thing=object)
log = log.unbind("tag")
try:
    1 / 0
except ZeroDivisionError:
    log.exception("broken")
"""


def logged(level):
    environment = {**os.environ, "PYTHONPATH": shim.DIRECTORY}
    command = [sys.executable, "-c", LOGS % level]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_log_is_json_lines():
    created, broken = map(json.loads, logged("INFO").splitlines())
    assert {key: created[key] for key in ("tag", "msg", "name", "level", "filename", "lineno")} == {
        "tag": "t",
        "msg": "made it",
        "name": "b",
        "level": "info",
        "filename": "<string>",
        "lineno": 6,
    }
    assert "tag" not in broken
    assert "ZeroDivisionError" in broken["exception"]


def test_the_log_can_be_readable_or_off():
    assert "[debug   ] detail" in logged("DEBUG")
    assert logged("DISABLED") == ""


CLI = """
import click
from crossplane.function import cli
@click.command()
@cli.standard_options
@click.option("--size", default=1)
def main(size, **options):
    print(size, sorted(options.items()))
main()
"""


def test_the_standard_options_are_those_of_the_published_sdk(sdk_python):
    """In its environment, which has Click."""
    path = os.pathsep.join((shim.DIRECTORY, str(SOURCES)))
    words = ["--insecure", "--tls-certs-dir", "/tls", "--max-grpc-message-size", "9", "--size", "4"]
    outputs = [
        subprocess.run(
            [sdk_python, "-c", CLI, *words],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "PYTHONPATH": sdk_path, "ADDRESS": "x:1"},
        ).stdout
        for sdk_path in (path, "")
    ]
    assert outputs[0] == outputs[1] != ""


def test_calls_of_one_servicer_take_turns():
    """Its author wrote it for one event loop: what it keeps needs no lock."""
    from crossply.sdk.published_sdk_function import PublishedFunction

    class Message:
        @staticmethod
        def FromString(data):  # noqa: N802
            return data

        @staticmethod
        def SerializeToString():  # noqa: N802
            return b""

    class Counting:
        running = most = 0

        async def RunFunction(self, request, context):  # noqa: N802
            self.running += 1
            self.most = max(self.most, self.running)
            sum(range(20_000))
            self.running -= 1
            return Message

    counting = Counting()
    foreign = PublishedFunction(counting, Message)
    threads = [threading.Thread(target=lambda: [foreign.handle(b"") for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counting.most == 1


@pytest.mark.parametrize(
    "name",
    [
        *("request", "response", "resource", "runtime", "logging", "cli"),
        *("proto.v1.run_function_pb2", "proto.v1.run_function_pb2_grpc"),
        *("proto.v1beta1.run_function_pb2", "proto.v1beta1.run_function_pb2_grpc"),
    ],
)
def test_every_public_name_of_the_published_sdk_is_there(sdk_python, name):
    """Names that others import from a module: functions, classes and constants of its own."""
    program = (
        "import sys, types, importlib\n"
        f"module = importlib.import_module('crossplane.function.{name}')\n"
        "own = {k for k, v in vars(module).items() if not k.startswith('_')\n"
        "       and not isinstance(v, types.ModuleType)}\n"
        "print(*sorted(own))\n"
    )
    path = os.pathsep.join((shim.DIRECTORY, str(SOURCES)))
    published_names, crossply_names = (
        subprocess.run(
            [sdk_python, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": sdk_path},
        ).stdout.split()
        for sdk_path in ("", path)
    )
    typing_only = {"Any", "Callable", "F", "Sequence", "TypeVar"}
    generated_only = {"GRPC_GENERATED_VERSION", "GRPC_VERSION", "first_version_is_lower"}
    assert set(published_names) - typing_only - generated_only <= set(crossply_names)
