"""Functions behind gRPC that behave in every way a function can, and somewhere to run them."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc

from crossply.compose.function_messages import Request, Resource, State
from tests.support.patience import PATIENCE
from tests.support.programs import path_of

V1 = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction"
V1BETA1 = "/apiextensions.fn.proto.v1beta1.FunctionRunnerService/RunFunction"
CROSSPLY = os.path.join(os.path.dirname(sys.executable), "crossply")

REQUEST = Request(State(Resource({"kind": "XR"}), {"r": Resource({"kind": "Thing", "spec": {"n": 5.0}})}))


class Methods(grpc.GenericRpcHandler):  # type: ignore[type-arg]
    """Answers each method with its own function of bytes."""

    def __init__(self, methods: dict[str, Any]) -> None:
        self.methods = methods

    def service(self, details: Any) -> Any:
        answer = self.methods.get(details.method)
        return answer and grpc.unary_unary_rpc_method_handler(answer)


@contextlib.contextmanager
def serving(**methods: Any) -> Iterator[str]:
    """A gRPC server with these functions as v1 and v1beta1 methods; returns its address."""
    handlers = {{"v1": V1, "v1beta1": V1BETA1}[name]: answer for name, answer in methods.items()}
    server = grpc.server(futures.ThreadPoolExecutor(4), handlers=[Methods(handlers)])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()


@contextlib.contextmanager
def started(command: Sequence[str], address: str, environment: dict[str, str] | None = None) -> Iterator[Any]:
    """A process that serves at an address: waits until it accepts, and ends it afterwards."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, **(environment or {})}
    )
    assert process.stderr is not None
    try:
        wait_until_listening(process, address)
        yield process
    finally:
        process.terminate()
        process.wait(60)
        process.stderr.close()


@contextlib.contextmanager
def serving_file(file: Path) -> Iterator[str]:
    """`crossply function run` for a file, at a port that the system chooses; its address once it listens."""
    command = [CROSSPLY, "function", "run", "--insecure", "--address", "127.0.0.1:0", str(file)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            line = process.stderr.readline()
            assert "serving " in line, line
            yield line.split()[-1]
        finally:
            process.terminate()


def wait_until_listening(process: subprocess.Popen[Any], address: str) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if accepts(address):
            return
        if process.poll() is not None:
            assert process.stderr is not None
            raise AssertionError(process.stderr.read().decode()[-1000:])
        time.sleep(0.05)
    raise AssertionError(f"nothing listens at {address}")


def accepts(address: str) -> bool:
    if address.startswith("/"):
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(address) == 0
    host, port = address.rsplit(":", 1)
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def make_certificates(directory: Path) -> None:
    """Certificates for mutual TLS: server/, client/ and one for another host, misnamed/, of one authority;
    stranger/ of another.
    """
    for authority, names in (("ca", ("server", "client", "misnamed")), ("other-ca", ("stranger",))):
        openssl(
            directory,
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-keyout",
            f"{authority}.key",
            "-out",
            f"{authority}.crt",
            "-days",
            "2",
            "-subj",
            f"/CN={authority}",
        )
        for name in names:
            issue(directory, authority, name)


def issue(directory: Path, authority: Any, name: str) -> None:
    place = directory / name
    place.mkdir()
    extensions = directory / f"{name}.ext"
    host = "DNS:elsewhere.example.org" if name == "misnamed" else "DNS:localhost,IP:127.0.0.1"
    extensions.write_text(f"subjectAltName={host}\nextendedKeyUsage=serverAuth,clientAuth\n")
    openssl(
        directory,
        "req",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-keyout",
        f"{name}/tls.key",
        "-out",
        f"{name}.csr",
        "-subj",
        f"/CN={name}",
    )
    openssl(
        directory,
        "x509",
        "-req",
        "-in",
        f"{name}.csr",
        "-CA",
        f"{authority}.crt",
        "-CAkey",
        f"{authority}.key",
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        f"{name}.ext",
        "-out",
        f"{name}/tls.crt",
    )
    (place / "ca.crt").write_bytes((directory / f"{authority}.crt").read_bytes())


def openssl(directory: Path, *arguments: str) -> None:
    subprocess.run([path_of("openssl"), *arguments], cwd=directory, check=True, capture_output=True)
