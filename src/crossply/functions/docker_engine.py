"""The few requests that Crossply makes of a container engine: the Docker Engine API over its socket.

Podman answers the same requests. The engine is looked for at DOCKER_HOST, at Docker's socket and at podman's.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import quote, urlencode

from crossply.functions.failures import ContainerEngineUnavailable, ContainerFailed

_TIMEOUT = 60.0
"""Seconds an engine may be silent; a pull reports progress all the time."""

_LOG_HEADER = 8


class Engine:
    """One container engine that answered."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint

    def has_image(self, image: str) -> bool:
        """Return whether the image is there already."""
        return self._ask("GET", f"/images/{quote(image, safe='/:@')}/json")[0] == 200

    def pull(self, image: str) -> None:
        """Fetch the image from its registry."""
        tagged = image if "@" in image or ":" in image.rpartition("/")[2] else f"{image}:latest"
        status, body = self._ask("POST", "/images/create?" + urlencode({"fromImage": tagged}))
        problem = _error_message(body) if status != 200 else _pull_problem(body)
        if problem:
            raise ContainerFailed(f"cannot pull image {image}: {problem}", hint="is the reference right?")

    def save(self, image: str, path: str) -> None:
        """Write an image that is there as a tarball to a file."""
        connection = _connection(self._endpoint)
        try:
            connection.request("GET", f"/images/{quote(image, safe='/:@')}/get")
            answer = connection.getresponse()
            if answer.status != 200:
                _expect(answer.status, answer.read(), (200,))
            with open(path, "wb") as file:
                while chunk := answer.read(1 << 18):
                    file.write(chunk)
        except (OSError, HTTPException) as problem:
            raise ContainerEngineUnavailable(
                f"cannot talk to the container engine at {self._endpoint}: {problem}"
            ) from None
        finally:
            connection.close()

    def create(self, name: str, description: Mapping[str, Any]) -> str:
        """Create a container and return its identity."""
        query = "?" + urlencode({"name": name}) if name else ""
        created = self._must("POST", f"/containers/create{query}", (201,), description)
        return str(json.loads(created)["Id"])

    def inspect(self, container: str) -> dict[str, Any] | None:
        """The engine's description of a container, or None where there is none."""
        status, body = self._ask("GET", f"/containers/{quote(container)}/json")
        if status == 404:
            return None
        state: dict[str, Any] = json.loads(_expect(status, body, (200,)))
        return state

    def start(self, container: str) -> None:
        """Start a container; one that runs already is left alone."""
        self._must("POST", f"/containers/{container}/start", (204, 304))

    def stop(self, container: str) -> None:
        """Stop a container."""
        self._must("POST", f"/containers/{container}/stop?t=5", (204, 304, 404))

    def remove(self, container: str) -> None:
        """Stop and remove a container with its anonymous volumes."""
        self._must("DELETE", f"/containers/{container}?force=true&v=true", (200, 204, 404))

    def log_tail(self, container: str, lines: int) -> str:
        """The last lines that a container wrote."""
        _, body = self._ask("GET", f"/containers/{container}/logs?stdout=true&stderr=true&tail={lines}")
        return _plain_log(body)

    def _must(self, method: str, path: str, accepted: tuple[int, ...], body: Any = None) -> bytes:
        return _expect(*self._ask(method, path, body), accepted)

    def _ask(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        data = None if body is None else json.dumps(body)
        headers = {} if data is None else {"Content-Type": "application/json"}
        connection = _connection(self._endpoint)
        try:
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, HTTPException) as problem:
            raise ContainerEngineUnavailable(
                f"cannot talk to the container engine at {self._endpoint}: {problem}"
            ) from None
        finally:
            connection.close()


def find_engine(environ: Mapping[str, str]) -> Engine:
    """The first container engine that answers."""
    places = _places(environ)
    for place in places:
        try:
            if Engine(place)._ask("GET", "/_ping")[0] == 200:
                return Engine(place)
        except ContainerEngineUnavailable:
            continue
    raise ContainerEngineUnavailable(f"no container engine answers at {' or '.join(places)}")


def _places(environ: Mapping[str, str]) -> list[str]:
    if environ.get("DOCKER_HOST"):
        return [environ["DOCKER_HOST"]]
    places = ["unix:///var/run/docker.sock", "unix:///run/podman/podman.sock"]
    if environ.get("XDG_RUNTIME_DIR"):
        places.append(f"unix://{environ['XDG_RUNTIME_DIR']}/podman/podman.sock")
    return places


class _UnixConnection(HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=_TIMEOUT)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket instead of a host."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(_TIMEOUT)
        self.sock.connect(self._path)


def _connection(endpoint: str) -> HTTPConnection:
    scheme, _, place = endpoint.partition("://")
    if scheme == "unix":
        return _UnixConnection(place)
    if scheme in ("tcp", "http") and place:
        return HTTPConnection(place.rstrip("/"), timeout=_TIMEOUT)
    raise ContainerEngineUnavailable(
        f"cannot talk to the container engine at {endpoint}: unknown kind of address",
        hint="DOCKER_HOST is unix:///path/to/docker.sock or tcp://host:port",
    )


def _expect(status: int, body: bytes, accepted: tuple[int, ...]) -> bytes:
    if status in accepted:
        return body
    raise ContainerFailed(f"the container engine answered {status}: {_error_message(body)}")


def _error_message(body: bytes) -> str:
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace").strip()[:500]


def _pull_problem(body: bytes) -> str:
    """A pull answers 200 and then reports its progress, a JSON object a line; an error is one of them."""
    for line in body.splitlines():
        if b'"error"' in line:
            return str(json.loads(line).get("error", ""))
    return ""


def _plain_log(body: bytes) -> str:
    """The text of a log, which comes in frames: a header that ends in the length, then the bytes."""
    parts = []
    while len(body) >= _LOG_HEADER:
        end = _LOG_HEADER + int.from_bytes(body[4:_LOG_HEADER], "big")
        parts.append(body[_LOG_HEADER:end])
        body = body[end:]
    return b"".join(parts).decode(errors="replace").strip()
