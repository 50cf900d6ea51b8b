"""Functions that are called by mutual TLS, and certificates for both sides."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from datetime import UTC, datetime
from typing import Any

import grpc
import pytest

from crossply.certificates import FOR_CLIENTS, FOR_SERVERS
from crossply.compose.function_messages import Response, Result
from crossply.compose.wire_codec import encode_response
from crossply.control.runtimes.certificate_authority import (
    Lifetimes,
    issued,
    purpose_for,
    read_authorities,
    renew_authority,
)
from crossply.control.runtimes.private_files import PrivateFiles
from crossply.functions.channels import Address
from crossply.functions.failures import FunctionError
from crossply.functions.remote import Remote
from crossply.functions.server import server_credentials
from tests.support.function_servers import REQUEST, V1, Methods

LIVES = Lifetimes()
NAME = "fn.crossplane-system"


class Authority:
    """An authority at some time, and files by it."""

    def __init__(self, before: Authority | None = None, ago: float = 0.0) -> None:
        """What became of one from before, some part of its life ago."""
        now = datetime.now(UTC) - LIVES.authority * ago
        known: dict[str, bytes] = before.files if before else {}
        changes = renew_authority(known, now, LIVES) or {}
        self.files: dict[str, bytes] = {key: value for key, value in {**known, **changes}.items() if value}

    def issue(self, usage: Any, *names: str) -> dict[str, bytes]:
        now = datetime.now(UTC)
        authorities = read_authorities(self.files, now)
        assert authorities is not None
        return issued(purpose_for(usage, names), authorities, now, LIVES)


@contextlib.contextmanager
def files(content: dict[str, bytes]) -> Iterator[PrivateFiles]:
    """A directory of certificates that can be replaced."""
    private = PrivateFiles()
    private.replace(content)
    try:
        yield private
    finally:
        private.remove()


@contextlib.contextmanager
def serving(
    message: str, directory: str, port: int = 0, delay: float = 0.0, answer: Any = None
) -> Iterator[int]:
    """A function that returns its own name; yields its port."""

    def respond(data: bytes, context: object) -> bytes:
        time.sleep(delay)
        return encode_response(Response(results=(Result(3, message),)))

    methods = Methods({V1: answer or respond})
    options = [("grpc.so_reuseport", 0)]
    server = grpc.server(futures.ThreadPoolExecutor(16), handlers=[methods], options=options)
    bound_port = server.add_secure_port(f"127.0.0.1:{port}", server_credentials(directory))
    server.start()
    try:
        yield bound_port
    finally:
        server.stop(2.0).wait()


def at(*ports: int) -> Callable[[], Address]:
    """The addresses of a function with several replicas, as of its Service."""
    return lambda: Address("ipv4:" + ",".join(f"127.0.0.1:{port}" for port in ports), NAME)


def message_from(remote: Remote, timeout: float = 5.0) -> str:
    return remote(REQUEST, timeout).results[0].message


class Calls:
    """What came of many calls."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self.failed: list[FunctionError] = []
        self.over = threading.Event()

    @property
    def finished(self) -> int:
        return len(self.messages) + len(self.failed)

    def wait_for(self, number: int) -> None:
        end = time.monotonic() + 30
        while self.finished < number:
            assert time.monotonic() < end, (self.finished, self.failed[:3])
            time.sleep(0.01)


@contextlib.contextmanager
def calling(remote: Remote, at_once: int = 4) -> Iterator[Calls]:
    """Call all the time, from several threads."""
    calls = Calls()

    def call() -> None:
        while not calls.over.is_set():
            try:
                calls.messages.append(message_from(remote, 10.0))
            except FunctionError as problem:
                calls.failed.append(problem)

    threads = [threading.Thread(target=call) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    try:
        yield calls
    finally:
        calls.over.set()
        for thread in threads:
            thread.join(30)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture
def server_files(authority: Authority) -> Iterator[PrivateFiles]:
    with files(authority.issue(FOR_SERVERS, "fn", NAME, f"{NAME}.svc")) as certificate_files:
        yield certificate_files


@pytest.fixture
def client_files(authority: Authority) -> Iterator[PrivateFiles]:
    with files(authority.issue(FOR_CLIENTS, "crossplane.crossplane-system")) as certificate_files:
        yield certificate_files
