"""The program of a WebServer: serves the files of one directory on a socket that it inherits.

It answers GET and HEAD, lists no directories, serves no hidden files and follows no symbolic links. It ends
when its standard input does, which is a pipe from the provider: so it never outlives the provider.
"""

from __future__ import annotations

import mimetypes
import os
import shutil
import socket
import sys
import threading
from email.utils import formatdate
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from provider_local.confined_tree import ConfinedTree, FileRefused
from provider_local.relative_path import PathRefused, path_components

INDEX = "index.html"
_MOST_CONNECTIONS = 64
_WELL_KNOWN = ".well-known"  # RFC 8615


class FileHandler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    protocol_version = "HTTP/1.1"
    server_version = "crossply"
    sys_version = ""
    timeout = 15
    server: FileServer

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def _answer(self) -> None:
        requested = unquote(urlsplit(self.path).path).removeprefix("/")
        try:
            path = (*self.server.directory, *_components(requested))
            if requested and not requested.endswith("/") and self.server.is_directory(path):
                self._redirect(f"/{quote(requested)}/")
                return
            if not requested or requested.endswith("/"):
                path = (*path, INDEX)
            with self.server.tree.open_file(path) as file:
                self._send(file, path[-1])
        except (FileNotFoundError, FileRefused, PathRefused):
            self.send_error(HTTPStatus.NOT_FOUND)

    def _send(self, file: int, name: str) -> None:
        state = os.fstat(file)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", _content_type(name))
        self.send_header("Content-Length", str(state.st_size))
        self.send_header("Last-Modified", formatdate(state.st_mtime, usegmt=True))
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if self.command != "HEAD":
            with open(file, "rb", closefd=False) as reader:
                shutil.copyfileobj(reader, self.wfile)

    def _redirect(self, location: str) -> None:
        self.send_response(HTTPStatus.MOVED_PERMANENTLY)
        self.send_header("Location", location)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Requests are not logged."""


class FileServer(ThreadingHTTPServer):
    """Serves a directory of a tree; connections beyond the limit are closed."""

    daemon_threads = True

    def __init__(self, listener: socket.socket, tree: ConfinedTree, directory: tuple[str, ...]) -> None:
        super().__init__(listener.getsockname(), FileHandler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.tree = tree
        self.directory = directory
        self._free = threading.Semaphore(_MOST_CONNECTIONS)

    def is_directory(self, path: tuple[str, ...]) -> bool:
        try:
            return self.tree.directory_mode(path) is not None
        except FileRefused:
            return False

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of the server."""


def _components(requested: str) -> tuple[str, ...]:
    """The names in a path; raises PathRefused, also for hidden files such as .git/config."""
    components = path_components(requested.removesuffix("/")) if requested else ()
    if any(component.startswith(".") and component != _WELL_KNOWN for component in components):
        raise PathRefused(f'"{requested}" is hidden')
    return components


def _content_type(name: str) -> str:
    guessed = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return f"{guessed}; charset=utf-8" if guessed.startswith("text/") else guessed


def main(root: str, descriptor: str, *directory: str) -> None:
    """Serve on an inherited socket until standard input ends."""
    server = FileServer(socket.socket(fileno=int(descriptor)), ConfinedTree(root), directory)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.buffer.read()
    os._exit(0)
