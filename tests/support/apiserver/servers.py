"""Servers to test: the program as users start it, or the same server in a thread with limits of its own."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from crossply.apiserver.assembly import RunningServer, Settings
from crossply.apiserver.http.limits import Limits
from crossply.apiserver.storage import Store

CROSSPLY = str(pathlib.Path(sys.executable).parent / "crossply")
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
SECONDS = 20.0


class Answer(NamedTuple):
    status: int
    headers: Any
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def message(self) -> str:
        return str(self.json["message"])


class Server:
    """A running server, seen from a client."""

    directory: pathlib.Path
    url: str

    @property
    def token(self) -> str:
        return (self.directory / "admin.token").read_text()

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.url)
        return str(parts.hostname), int(parts.port or 0)

    def context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.directory / "pki" / "ca.crt"))

    def connect(self) -> HTTPConnection:
        return HTTPSConnection(*self.address, context=self.context(), timeout=SECONDS)

    def tcp(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=SECONDS)

    def tls(self) -> ssl.SSLSocket:
        """A connection for arbitrary bytes."""
        return self.context().wrap_socket(self.tcp(), server_hostname=self.address[0])

    def ask(
        self, method: str, path: str, body: Any = None, token: str | None = None, **headers: str
    ) -> Answer:
        with closing(self.connect()) as connection:
            return self.ask_on(connection, method, path, body, token, **headers)

    def ask_on(
        self,
        connection: HTTPConnection,
        method: str,
        path: str,
        body: Any = None,
        token: str | None = None,
        **headers: str,
    ) -> Answer:
        sent = self.headers(token) | {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        connection.request(method, path, body, sent)
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read())

    @contextmanager
    def watch(self, path: str, token: str | None = None) -> Iterator[HTTPResponse]:
        """An open watch; its events are the lines of the response."""
        with closing(self.connect()) as connection:
            connection.request("GET", path, headers=self.headers(token))
            with connection.getresponse() as response:
                yield response

    def headers(self, token: str | None = None) -> dict[str, str]:
        token = self.token if token is None else token
        return {"Authorization": f"Bearer {token}"} if token else {}

    def head(self, method: str, path: str, *more: str, token: str | None = None) -> bytes:
        """The beginning of a request, as bytes."""
        token = self.token if token is None else token
        lines = [f"{method} {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {token}", *more]
        return "\r\n".join([*lines, "", ""]).encode()

    def metrics(self) -> dict[str, float]:
        text = self.ask("GET", "/metrics").body.decode()
        samples = re.findall(r"^([a-z_]+(?:\{.*\})?) (\S+)$", text, re.M)
        return {name: float(value) for name, value in samples}

    def is_well(self) -> bool:
        return self.ask("GET", "/readyz").body == b"ok"

    def create_map(self, name: str, token: str | None = None, **data: str) -> Answer:
        return self.ask("POST", CONFIG_MAPS, config_map(name, **data), token)


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def events(response: HTTPResponse) -> Iterator[dict[str, Any]]:
    """The events of a watch, until it ends."""
    for line in response:
        yield json.loads(line)


class Program(Server):
    """`crossply apiserver`, as a process of its own."""

    def __init__(
        self,
        directory: pathlib.Path,
        *flags: str,
        files: int = 0,
        listen: str = "127.0.0.1:0",
        log: pathlib.Path | None = None,
    ) -> None:
        self.directory = directory
        command = [CROSSPLY, "apiserver", "--data", str(directory), "--listen", listen, *flags]
        if files:
            command = ["sh", "-c", f'ulimit -n {files}; exec "$0" "$@"', *command]
        self.log = log or directory.with_name(f"{directory.name}.log")
        with open(self.log, "ab") as errors:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().removeprefix("ready: ").strip()

    def stop(self) -> int:
        """Stop as an operator does; the result is the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def kill(self) -> None:
        self.process.kill()
        self.wait()

    def wait(self) -> int:
        """Wait for its end."""
        code = self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    def log_text(self) -> str:
        """Everything in its log."""
        return self.log.read_text()

    def memory(self) -> int:
        """The memory in use, in bytes."""
        pages = pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()
        return int(pages[1]) * os.sysconf("SC_PAGE_SIZE")

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.stop()


class Threaded(Server):
    """The server in a thread of the test, with limits that are reached soon."""

    def __init__(
        self, directory: pathlib.Path, limits: Limits, *, in_memory: bool = True, token_file: str = ""
    ) -> None:
        self.directory = directory
        self._settings = Settings(str(directory), in_memory=in_memory, limits=limits, token_file=token_file)
        self._loop = asyncio.new_event_loop()
        self._running = RunningServer(self._settings)
        self._thread = threading.Thread(target=self._loop.run_forever)

    @property
    def store(self) -> Store:
        """What is behind it; to be touched by `run` only."""
        assert self._running.store is not None
        return self._running.store

    def run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(60)

    def __enter__(self) -> Threaded:
        self._thread.start()
        self.run(self._running.start())
        self.url = self._running.url
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._running.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
