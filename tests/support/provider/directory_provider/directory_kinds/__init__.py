"""A provider whose external system is a directory: a file for each thing, and a log of all calls."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass
from typing import Any

from crossply.provider import (
    ConnectionDetails,
    Context,
    Credentials,
    ExternalError,
    Observation,
    Ref,
    SecretValue,
    managed,
    provider_config,
)

GROUP = "boxes.example.org"


def kill_at(point: str) -> None:
    """Die as by kill -9, once at each point that the environment names."""
    if point in os.environ.get("PROVIDER_KILL_AT", "").split(","):
        marker = os.path.join(os.environ["PROVIDER_KILL_MARKERS"], point)
        if not os.path.exists(marker):
            with open(marker, "w"):
                pass
            os.kill(os.getpid(), signal.SIGKILL)


@provider_config(group=GROUP)
@dataclass
class ProviderConfig:
    """The directory of the external system, and the password for it."""

    directory: str
    credentials: Credentials | None = None


class FileStore:
    """The external system."""

    def __init__(self, config: ProviderConfig) -> None:
        self._directory = config.directory
        if config.credentials is not None and config.credentials.text == "wrong":
            raise ExternalError("the word is wrong: " + config.credentials.text, hint="use another one")
        if not os.path.isdir(self._directory):
            raise ExternalError(f"there is no directory at {self._directory}")

    def read(self, name: str) -> dict[str, Any] | None:
        self._log("observe", name)
        try:
            with open(self._path(name)) as file:
                content: dict[str, Any] = json.load(file)
                return content
        except FileNotFoundError:
            return None

    def write(self, action: str, name: str, content: dict[str, Any]) -> None:
        self._log(action, name)
        with open(self._path(name) + ".new", "w") as file:
            json.dump(content, file)
        os.replace(self._path(name) + ".new", self._path(name))

    def remove(self, name: str) -> None:
        self._log("delete", name)
        if os.path.exists(self._path(name)):
            os.remove(self._path(name))

    def _path(self, name: str) -> str:
        return os.path.join(self._directory, f"{name}.json")

    def _log(self, action: str, name: str) -> None:
        with open(os.path.join(self._directory, "log"), "a") as file:
            file.write(f"{action} {name}\n")


@managed(group=GROUP, config=ProviderConfig, creation_grace_period=0.0)
class Box:
    """A box, one file in the directory. Its methods are synchronous."""

    @dataclass
    class Parameters:
        """What is in the box."""

        content: str = ""
        colour: str | None = None
        password: SecretValue | None = None
        lid: Ref[Lid] | None = None
        labels: list[Ref[Lid]] | None = None

    @dataclass
    class Observed:
        """What is known of the box."""

        size: int = 0

    def connect(self, config: ProviderConfig) -> FileStore:
        return FileStore(config)

    def observe(self, ctx: Context, params: Parameters) -> Observation | None:
        box = ctx.client.read(ctx.external_name)
        if box is None:
            return None
        actual = {key: box.get(key) for key in ("content", "colour", "password")}
        size = len(box["content"])
        ready = True if size else "the box is empty"
        return Observation(Box.Observed(size), actual, ready=ready, connection={"address": ctx.external_name})

    def create(self, ctx: Context, params: Parameters) -> ConnectionDetails:
        kill_at("before create")
        if params.content == "forbidden":
            raise ValueError(f"forbidden content with password {params.password}")
        self._put("create", ctx, params)
        kill_at("after create")
        return {"password": str(params.password or "none")}

    def update(self, ctx: Context, params: Parameters) -> None:
        kill_at("before update")
        self._put("update", ctx, params)
        kill_at("after update")

    def delete(self, ctx: Context, params: Parameters) -> None:
        kill_at("before delete")
        ctx.client.remove(ctx.external_name)
        kill_at("after delete")

    def _put(self, action: str, ctx: Context, params: Parameters) -> None:
        box = {
            "content": params.content,
            "colour": params.colour or "brown",
            "password": str(params.password) if params.password else None,
            "lid": params.lid,
        }
        ctx.client.write(action, ctx.external_name, box)


@managed(group=GROUP, config=ProviderConfig, deterministic_external_name=False)
class Lid:
    """A lid, whose name the external system chooses. Its methods are asynchronous."""

    @dataclass
    class Parameters:
        """None."""

        note: str = ""

    async def connect(self, config: ProviderConfig) -> FileStore:
        return FileStore(config)

    async def observe(self, ctx: Context, params: Parameters) -> Observation | None:
        return Observation() if ctx.client.read(ctx.external_name) is not None else None

    async def create(self, ctx: Context, params: Parameters) -> None:
        ctx.external_name = f"lid-{ctx.uid[:8]}"
        ctx.client.write("create", ctx.external_name, {"note": params.note})
        kill_at("after create of a lid")

    async def update(self, ctx: Context, params: Parameters) -> None: ...

    async def delete(self, ctx: Context, params: Parameters) -> None:
        ctx.client.remove(ctx.external_name)


@managed(group=GROUP, config=ProviderConfig, scope="Cluster", creation_grace_period=0.0)
class Room(Box):
    """A box for the whole cluster."""

    @dataclass
    class Parameters:
        """What is in the room."""

        content: str = ""
        colour: str | None = None
        password: SecretValue | None = None
        lid: str | None = None
