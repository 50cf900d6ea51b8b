"""An external system for providers under comparison: things with properties, over HTTP, and failures.

A scenario has a part of its own at `/SCENARIO`. Calls are POST requests of `observe`, `create`, `update`,
`delete` and `connect`; tests/providers/go/thing.go and tests/providers/scripted/ have clients of it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from aiohttp import web

from crossply.values import Object
from tests.support.providers.effect_log import EffectLog, Faults

LOST = "lost"
"""The call took effect, and its answer was an error."""


@dataclass
class Part:
    """The external system of one scenario."""

    log: EffectLog
    kill: Callable[[], None]
    """End the provider at once."""
    things: dict[str, Object] = field(default_factory=dict)
    """The properties of what exists, by external name."""
    connection: Object = field(default_factory=dict)
    """The connection details that `observe` returns for a thing."""
    created_connection: Object = field(default_factory=dict)
    not_ready: str = ""
    hidden: int = 0
    """How many more times `observe` reports that nothing exists, although it does."""
    lingering: int = 0
    """How many more times something exists after its deletion."""
    defaults: Object = field(default_factory=dict)
    """Properties that a thing gets when none are wanted."""
    secret: str = ""
    """What a provider must log in with."""
    faults: Faults = field(default_factory=Faults)
    created: int = 0

    def fail(self, call: str, *errors: str) -> None:
        """The next calls end in errors; `lost` takes effect before it does."""
        self.faults.add(lambda name: name == call, *errors)

    def crash(self, call: str, when: str) -> None:
        """The provider ends `before` or `after` the next call took effect."""
        self.faults.add(lambda name: name == call, f"crash {when}")

    def answer(self, call: str, question: Object) -> Object:
        """The response to a client."""
        answer = getattr(self, f"_{call}")(question)
        return answer if isinstance(answer, dict) else {}

    def _connect(self, question: Object) -> Object:
        if question.get("secret", "") != self.secret:
            return {"error": "wrong secret"}
        return {}

    def _observe(self, question: Object) -> Object:
        name = question.get("externalName", "")
        if name not in self.things or self.hidden:
            self.hidden = max(0, self.hidden - 1)
            return {"exists": False}
        if self.lingering and self.things[name].get("deleted"):
            self.lingering -= 1
            if not self.lingering:
                del self.things[name]
        thing = self.things.get(name, {})
        return {
            "exists": bool(thing),
            "id": thing.get("id", ""),
            "properties": thing.get("properties", {}),
            "notReady": self.not_ready,
            "connection": self.connection,
        }

    def _create(self, question: Object) -> Object:
        self.created += 1
        name = question["externalName"]
        if question.get("named"):
            name = f"id-{self.created}"
        if name in self.things:
            return {"error": f"{name} exists"}
        self.put(name, question["properties"])
        return {"id": self.things[name]["id"], "connection": self.created_connection}

    def put(self, name: str, properties: Object) -> None:
        """Create a thing, as another user could."""
        self.things[name] = {"id": name, "properties": {**self.defaults, **properties}}

    def _update(self, question: Object) -> Object:
        thing = self.things.get(question["externalName"])
        if thing is None:
            return {"error": f"{question['externalName']} does not exist"}
        thing["properties"] = {**thing["properties"], **question["properties"]}
        return {}

    def _delete(self, question: Object) -> Object:
        if self.lingering and question["externalName"] in self.things:
            self.things[question["externalName"]]["deleted"] = True
        else:
            self.things.pop(question["externalName"], None)
        return {}


class ScriptedSystem:
    """Serves the parts of all scenarios."""

    def __init__(self) -> None:
        self.url = ""
        self.parts: dict[str, Part] = {}

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[ScriptedSystem]:
        runner = web.ServerRunner(web.Server(self._respond), shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _respond(self, request: web.BaseRequest) -> web.StreamResponse:
        _, scenario, call = request.path.split("/")
        part, question = self.parts[scenario], await request.json()
        question["named"] = question.get("kind") == "Ticket"
        resource = f"{question.get('kind', '')}/{question.get('name', '')}"
        action = part.faults.next_action(call)
        if action == "crash before":
            await _end(part, resource, call)
        answer = (
            {"error": action}
            if action and action not in (LOST, "crash after")
            else part.answer(call, question)
        )
        if action == "crash after":
            await _end(part, resource, call)
        if action == LOST:
            answer = {"error": LOST}
        if call != "connect":
            part.log.call(resource, call, _outcome(call, answer))
        return web.json_response(answer)


async def _end(part: Part, resource: str, call: str) -> None:
    part.log.call(resource, call, "crash")
    part.kill()
    await asyncio.sleep(3600)  # no client waits for the response


def _outcome(call: str, answer: Object) -> str:
    if answer.get("error"):
        return str(answer["error"])
    return ("exists" if answer["exists"] else "absent") if call == "observe" else "done"
