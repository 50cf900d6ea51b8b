"""Things and tickets in the external system of tests/support/providers/scripted_system.py."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import dataclass
from typing import Any

from crossply.provider import (
    ConnectionDetails,
    Context,
    Credentials,
    Observation,
    Ref,
    managed,
    provider_config,
)

GROUP = "small.example.org"


@provider_config(group=GROUP)
@dataclass
class ProviderConfig:
    """Where the external system is, and how to log in to it."""

    endpoint: str
    credentials: Credentials


@dataclass
class System:
    """A client of the external system."""

    endpoint: str

    def ask(self, call: str, question: dict[str, Any]) -> dict[str, Any]:
        body = json.dumps(question).encode()
        with urllib.request.urlopen(f"{self.endpoint}/{call}", data=body, timeout=60) as response:
            answer: dict[str, Any] = json.load(response)
        if answer.get("error"):
            raise RuntimeError(answer["error"])
        return answer


class ScriptedKind:
    """What both kinds do."""

    def connect(self, config: ProviderConfig) -> System:
        system = System(config.endpoint)
        system.ask("connect", {"secret": (config.credentials.data or b"").decode(), "properties": {}})
        return system

    def observe(self, ctx: Context, params: Any) -> Observation | None:
        answer = ctx.client.ask("observe", self.question(ctx, params))
        if not answer["exists"]:
            return None
        return Observation(
            observed=type(self).Observed(id=answer["id"]),  # type: ignore[attr-defined]
            actual=answer["properties"],
            ready=answer["notReady"] or True,
            connection=answer["connection"],
        )

    def create(self, ctx: Context, params: Any) -> ConnectionDetails | None:
        answer = ctx.client.ask("create", self.question(ctx, params))
        if type(self).__name__ == "Ticket":
            ctx.external_name = answer["id"]
        details: ConnectionDetails = answer["connection"]
        return details

    def update(self, ctx: Context, params: Any) -> None:
        ctx.client.ask("update", self.question(ctx, params))

    def delete(self, ctx: Context, params: Any) -> None:
        ctx.client.ask("delete", self.question(ctx, params))

    def question(self, ctx: Context, params: Any) -> dict[str, Any]:
        properties = {key: value for key, value in vars(params).items() if value not in (None, [])}
        return {
            "kind": type(self).__name__,
            "name": ctx.name,
            "externalName": ctx.external_name,
            "properties": properties,
        }


@managed(group=GROUP, config=ProviderConfig, categories=("crossplane", "managed", "small"))
class Thing(ScriptedKind):
    """A thing that we name."""

    @dataclass
    class Parameters:
        size: int | None = None
        color: str | None = None
        peer: Ref[Thing] | None = None
        friends: list[Ref[Thing]] | None = None

    @dataclass
    class Observed:
        id: str = ""


@managed(
    group=GROUP,
    config=ProviderConfig,
    deterministic_external_name=False,
    categories=("crossplane", "managed", "small"),
)
class Ticket(ScriptedKind):
    """A thing that the external system names."""

    @dataclass
    class Parameters:
        size: int | None = None
        color: str | None = None

    @dataclass
    class Observed:
        id: str = ""


@managed(group=GROUP, config=ProviderConfig, scope="Cluster", categories=("crossplane", "managed", "small"))
class Relic(ScriptedKind):
    """A thing of the whole cluster, with a deletion policy."""

    @dataclass
    class Parameters:
        size: int | None = None
        color: str | None = None

    @dataclass
    class Observed:
        id: str = ""
