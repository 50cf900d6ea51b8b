"""Files to render, the installed command to render them with, and functions that misbehave behind gRPC."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml

from crossply.values import Object

CROSSPLY = os.path.join(os.path.dirname(sys.executable), "crossply")
METHOD = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"
PT = "example.com/crossplane-contrib/function-patch-and-transform:v0"

XR = {
    "apiVersion": "example.org/v1",
    "kind": "XApp",
    "metadata": {"name": "app", "namespace": "default"},
    "spec": {"size": 3, "list": ["a", "b"]},
}
FILES = ("xr.yaml", "composition.yaml", "functions.yaml")
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}


def table(names: str, *rows: Any) -> Any:
    """A test for each row; its first column is the reason why the row is there, and the test's name."""
    return pytest.mark.parametrize(names.split(), [pytest.param(*row[1:], id=row[0]) for row in rows])


def patch(from_path: str, to_path: str, *transforms: Object, **more: Any) -> Object:
    return {
        "type": "FromCompositeFieldPath",
        "fromFieldPath": from_path,
        "toFieldPath": to_path,
        "transforms": list(transforms),
        **more,
    }


def template(name: str, *patches: Object, base: Object | None = None, **more: Any) -> Object:
    return {"name": name, "base": base or CONFIG_MAP, "patches": list(patches), **more}


def resources(*templates: Object, **more: Any) -> Object:
    """The input of a patch-and-transform step."""
    return {
        "apiVersion": "pt.fn.crossplane.io/v1beta1",
        "kind": "Resources",
        "resources": list(templates),
        **more,
    }


def step(name: str = "pt", function: str = "pt", **more: Any) -> Object:
    return {"step": name, "functionRef": {"name": function}, **more}


def composition(*steps: Object, **spec: Any) -> Object:
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "app"},
        "spec": {
            "compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "XApp"},
            "mode": "Pipeline",
            "pipeline": list(steps),
            **spec,
        },
    }


def function(name: str = "pt", package: str = PT, **annotations: str) -> Object:
    """A Function; in the names of annotations `__` is `/` and `_` is `-`."""
    named = {
        key.replace("__", "/").replace("_", "-").replace("render/", "render.crossplane.io/"): value
        for key, value in annotations.items()
    }
    named = {key.replace("crossply/", "crossply.dev/"): value for key, value in named.items()}
    return {
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "metadata": {"name": name, "annotations": named},
        "spec": {"package": package},
    }


def remote(address: str, name: str = "pt") -> Object:
    """A Function that is served somewhere already."""
    return function(name, render__runtime="Development", render__runtime_development_target=address)


def config_map_step() -> Object:
    """A step that composes one ConfigMap called cm from spec.size."""
    to_text = {"type": "convert", "convert": {"toType": "string"}}
    return step(input=resources(template("cm", patch("spec.size", "data.size", to_text))))


class Bench:
    """A folder with xr.yaml, composition.yaml and functions.yaml, all of which render well."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("xr.yaml", XR)
        self.write("composition.yaml", composition(config_map_step()))
        self.write("functions.yaml", function())

    def write(self, name: str, *documents: Any) -> str:
        """Write a file of objects, or of one text or bytes as it is."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(documents[0], bytes):
            path.write_bytes(documents[0])
        elif isinstance(documents[0], str):
            path.write_text(documents[0])
        else:
            path.write_text(yaml.safe_dump_all(documents))
        return str(path)

    def run(
        self, *words: str, within: float = 30, stdin: bytes = b"", command: Sequence[str] = ("render",)
    ) -> subprocess.CompletedProcess[bytes]:
        """Run the installed command in this folder."""
        environ = {**os.environ, "DOCKER_HOST": "tcp://127.0.0.1:1", "LC_ALL": "C.UTF-8"}
        return subprocess.run(
            [CROSSPLY, *command, *words],
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            timeout=within,
            env=environ,
        )

    def render(self, *words: str, within: float = 30, command: Sequence[str] = ("render",)) -> list[Object]:
        """Render the three files; gives the documents."""
        done = self.run(
            "xr.yaml", "composition.yaml", "functions.yaml", *words, within=within, command=command
        )
        assert (done.returncode, done.stderr.decode()) == (0, "")
        return list(yaml.safe_load_all(done.stdout))

    def refusal(self, *words: str, code: int = 1, within: float = 30) -> str:
        """Render what cannot be rendered: a sentence, no output, no traceback; gives all of stderr."""
        words = words or FILES
        done = self.run(*words, within=within)
        message = done.stderr.decode("utf-8", "surrogateescape")
        assert done.returncode == code, message
        assert "Traceback" not in message
        assert "internal error" not in message
        assert message.splitlines()[-1].startswith("crossply: "), message
        assert code == 80 or done.stdout == b""
        return message.replace(f"{self.folder}/", "")


class _Handler(grpc.GenericRpcHandler):  # type: ignore[type-arg]
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def service(self, details: Any) -> Any:
        return grpc.unary_unary_rpc_method_handler(self.answer) if details.method == METHOD else None


@contextlib.contextmanager
def serving(answer: Any) -> Iterator[str]:
    """A function from request bytes to reply bytes behind gRPC; gives its address."""
    server = grpc.server(futures.ThreadPoolExecutor(2), handlers=[_Handler(answer)])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()


def eventually(condition: Callable[[], Any], within: float = 15.0) -> Any:
    """Wait until the condition holds; gives what it gave."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        if result := condition():
            return result
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")
